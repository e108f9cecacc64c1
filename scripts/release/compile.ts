import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import type { Workspace } from "./workspaces.ts";

/**
 * Compiles `entries` and every source that they import, also from other workspaces, to JavaScript and declarations in
 * `outDir`, with the folders of the repository. Does not check types: the gate does.
 */
export function compile(
  root: string,
  workspaces: readonly Workspace[],
  entries: readonly string[],
  outDir: string,
): void {
  const configuration = {
    extends: join(root, "tsconfig.json"),
    compilerOptions: {
      noEmit: false,
      noCheck: true,
      allowJs: true,
      declaration: true,
      rewriteRelativeImportExtensions: true,
      rootDir: root,
      outDir,
      typeRoots: [join(root, "node_modules/@types")],
      // Files that are found in node_modules are not compiled.
      paths: Object.fromEntries(workspaces.flatMap((each) => pathsOf(root, each))),
    },
    files: entries.map((entry) => join(root, entry)),
    include: [],
  };
  mkdirSync(outDir, { recursive: true });
  const file = join(outDir, "tsconfig.json");
  writeFileSync(file, JSON.stringify(configuration));
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  execFileSync(process.execPath, [tsc, "--project", file], { stdio: "inherit" });
  rmSync(file);
}

function pathsOf(root: string, { name, folder, exports }: Workspace): [string, [string]][] {
  return Object.entries(exports).map(([subpath, source]) => [
    join(name, subpath),
    [join(root, folder, source)],
  ]);
}
