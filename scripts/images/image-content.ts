import { cpSync, globSync } from "node:fs";
import { join } from "node:path";
import { compilePrograms } from "../programs/compile-programs.ts";
import { programFiles, programsFolder, shippedPrograms } from "../programs/shipped-programs.ts";

const root = join(import.meta.dirname, "../..");
/** What images contain of this repository beside the programs. */
const files = [
  ...programFiles,
  "examples",
  "console/dist",
  "deploy/images",
  "docs/schemas",
  "LICENSE",
];
const unneeded = /\/(?:node_modules|\.reeve)$/;

/**
 * Writes what images contain into `folder`: the bundles of the programs, with the licenses and the bill of materials of
 * their packages, and the files that they read at run time. Needs all packages of this checkout, and neither a registry nor an engine.
 */
export async function writeImageContent(folder: string): Promise<void> {
  await compilePrograms({
    programs: shippedPrograms,
    folder: join(folder, programsFolder),
    place: programsFolder,
  });
  for (const path of globSync(files, { cwd: root })) {
    cpSync(join(root, path), join(folder, path), {
      recursive: true,
      filter: (file) => !unneeded.test(file),
    });
  }
}
