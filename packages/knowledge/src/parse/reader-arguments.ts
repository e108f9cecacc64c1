import { dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** Returns the arguments with which Node runs a reader: it may read its code and its libraries, and nothing else. */
export function readerArguments(program: string, maxMemoryBytes: number): readonly string[] {
  const libraries = ["unpdf", "htmlparser2", "fflate"].map((name) =>
    fileURLToPath(import.meta.resolve(name)),
  );
  const folders = new Set(libraries.map(nodeModulesOf));
  const readable = [dirname(program), ...folders, ...manifestsAbove(program)];
  return [
    "--permission",
    ...readable.map((path) => `--allow-fs-read=${path}`),
    "--no-warnings",
    `--max-old-space-size=${Math.floor(maxMemoryBytes / 2 / 1_048_576)}`,
  ];
}

function nodeModulesOf(file: string): string {
  const folder = `${sep}node_modules${sep}`;
  return file.slice(0, file.lastIndexOf(folder) + folder.length);
}

/** Node looks for the manifest of a module in the folders above it. */
function manifestsAbove(program: string): readonly string[] {
  const manifests: string[] = [];
  for (let folder = dirname(program); folder !== dirname(folder); folder = dirname(folder)) {
    manifests.push(join(folder, "package.json"));
  }
  return manifests;
}
