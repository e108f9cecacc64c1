import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compilePrograms } from "../programs/compile-programs.ts";
import { programFiles, programsFolder, shippedPrograms } from "../programs/shipped-programs.ts";
import type { PublishedProgram } from "./published.ts";

/**
 * Builds a program as it is published, in `folder`, which it replaces: a bundle with all packages that it imports, the files that
 * it reads at run time, and the licenses of these packages. The package has no dependencies but the Node that runs it on a
 * machine with an older one.
 */
export async function buildProgram(
  root: string,
  spec: PublishedProgram,
  folder: string,
): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  await compilePrograms({
    programs: {
      [spec.program]: spec.source,
      // A program that contains a toolhost starts it.
      "page-reader": shippedPrograms["page-reader"],
      // A program that contains a gateway starts it for each document.
      "document-reader": shippedPrograms["document-reader"],
    },
    folder: join(folder, programsFolder),
    place: programsFolder,
  });
  const files = [...spec.files, ...globSync([...programFiles], { cwd: root })];
  for (const each of [...files, "LICENSE", "CHANGELOG.md"]) {
    cpSync(join(root, each), join(folder, each), { recursive: true });
  }
  cpSync(join(root, spec.workspace, "README.md"), join(folder, "README.md"));
  const manifest = JSON.stringify(manifestOf(root, spec), undefined, 2);
  writeFileSync(join(folder, "package.json"), `${manifest}\n`);
}

function manifestOf(root: string, { name, description, program, engines }: PublishedProgram) {
  const { version, optionalDependencies } = JSON.parse(
    readFileSync(join(root, "package.json"), "utf8"),
  ) as RootManifest;
  return {
    name,
    version,
    description,
    license: "Apache-2.0",
    type: "module",
    publishConfig: { access: "public" },
    bin: { [program]: `./${programsFolder}/${program}.mjs` },
    engines,
    optionalDependencies,
  };
}

interface RootManifest {
  readonly version: string;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}
