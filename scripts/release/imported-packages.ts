import { globSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { join } from "node:path";

/**
 * The specifier of an import, export, or dynamic import, and of an import in a type. Only what can be the name of a package: messages
 * of programs look like imports too.
 */
const specifier = /(?:\bfrom\s*|\bimport\s*\(?\s*)["']((?:node:|@[\w.~-]+\/)?[\w~-][\w./~-]*)["']/g;

/** Returns the names of the packages that the code and the declarations in `folder` import. */
export function importedPackages(folder: string): readonly string[] {
  const names = new Set<string>();
  for (const file of globSync("**/*.{js,mjs,d.ts,d.mts}", { cwd: folder })) {
    for (const [, path = ""] of readFileSync(join(folder, file), "utf8").matchAll(specifier)) {
      if (path.startsWith("node:") || builtinModules.includes(path)) continue;
      const parts = path.split("/");
      names.add(parts.slice(0, path.startsWith("@") ? 2 : 1).join("/"));
    }
  }
  return [...names].toSorted();
}
