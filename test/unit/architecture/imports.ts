import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

/** One import of a source file. */
export interface Import {
  readonly file: string;
  /** The imported file, relative to the repository, or the specifier of an external module. */
  readonly target: string;
  /** The specifier as written. */
  readonly specifier: string;
}

/** Returns all TypeScript sources of the repository, tests included and generated code excluded. */
export function sourceFiles(root: string): readonly string[] {
  return globSync(
    "{services,packages,cli,console,sdk/typescript,test,bench,scripts}/**/*.{ts,tsx}",
    {
      cwd: root,
      exclude: (name) => ["node_modules", "gen", "dist"].includes(name),
    },
  );
}

/** Returns the imports of one file, type imports and dynamic imports included. */
export function importsOf(root: string, file: string): readonly Import[] {
  const source = readFileSync(join(root, file), "utf8");
  const found = source.matchAll(
    /^(?:import|export)\b[^"';]*?\bfrom\s+"([^"]+)"|^import\s+"([^"]+)"|\bimport\(\s*"([^"]+)"/gm,
  );
  return [...found].map(([, declared, bare, dynamic]) => {
    const specifier = declared ?? bare ?? dynamic ?? "";
    return { file, specifier, target: resolve(root, file, specifier) };
  });
}

/**
 * Returns what is loaded as soon as a file is: the sources, relative to the repository, and the specifiers of external modules. Dynamic
 * imports and types are loaded later, or never.
 */
export function loadedWith(root: string, file: string): ReadonlySet<string> {
  const loaded = new Set([file]);
  for (const each of loaded) {
    if (!/\.tsx?$/.test(each)) continue;
    const source = readFileSync(join(root, each), "utf8");
    const found = source.matchAll(
      /^(?:import|export)\b(?!\s+type\b)[^"';]*?\bfrom\s+"([^"]+)"|^import\s+"([^"]+)"/gm,
    );
    for (const [, from, bare] of found) loaded.add(resolve(root, each, from ?? bare ?? ""));
  }
  return loaded;
}

function resolve(root: string, file: string, specifier: string): string {
  if (specifier.startsWith(".")) return normalize(join(dirname(file), specifier));
  const [, name = "", path = ""] = /^@reeve\/([a-z]+)\/(.+)$/.exec(specifier) ?? [];
  const candidates = ["packages", "services"].flatMap((area) => [
    `${area}/${name}/src/${path}.ts`,
    `${area}/${name}/${path}.ts`,
  ]);
  return candidates.find((candidate) => existsSync(join(root, candidate))) ?? specifier;
}
