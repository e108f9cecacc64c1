import type { Import } from "./imports.ts";

/** Returns the import cycles among files, each as a list of files. */
export function cyclesOf(imports: readonly Import[]): readonly (readonly string[])[] {
  const targets = Map.groupBy(imports, ({ file }) => file);
  const finished = new Set<string>();
  const cycles: (readonly string[])[] = [];
  const visit = (file: string, path: readonly string[]): void => {
    if (finished.has(file)) return;
    const start = path.indexOf(file);
    if (start >= 0) {
      cycles.push([...path.slice(start), file]);
      return;
    }
    for (const { target } of targets.get(file) ?? []) visit(target, [...path, file]);
    finished.add(file);
  };
  for (const file of targets.keys()) visit(file, []);
  return cycles;
}
