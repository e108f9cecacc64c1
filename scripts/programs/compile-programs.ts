import { rmSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { containsPathBelow } from "./contains-path.ts";
import { foldersOfSources } from "./folders-of-sources.ts";
import { thirdPartyPackages } from "./third-party-packages.ts";

const root = join(import.meta.dirname, "../..");

export interface Compilation {
  /** The first file of each program, relative to the root of the repository. */
  readonly programs: Readonly<Record<string, string>>;
  /** The folder of the bundles, which is replaced. */
  readonly folder: string;
  /**
   * The path of that folder in the installation that runs the programs, relative to its root. Other files that programs read have
   * their paths of the repository there.
   */
  readonly place: string;
}

/**
 * Bundles each program with everything that it imports as `NAME.mjs`, and lists the packages in the bundles beside them. A bundle
 * starts with about half of the processor time of the sources, and needs less memory: Node looks up, reads, and links more
 * than a thousand files otherwise. Its code is not minified, so that stack traces stay readable. Throws if the result contains a
 * path of this machine.
 */
export async function compilePrograms({ programs, folder, place }: Compilation): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  const bundle = await rolldown({
    cwd: root,
    input: programs,
    // It reads its own files. Programs import it only for the browser tools, and say what is missing without it.
    external: ["playwright-core"],
    platform: "node",
    logLevel: "warn",
    // A package that is not installed would be missing only when a program imports it.
    onLog(level, log, report) {
      if (log.code === "UNRESOLVED_IMPORT") throw new Error(log.message);
      report(level, log);
    },
    plugins: [foldersOfSources(root, place), thirdPartyPackages()],
  });
  const names = { entryFileNames: "[name].mjs", chunkFileNames: "[name]-[hash].mjs" };
  const { output } = await bundle.write({ dir: folder, format: "esm", ...names });
  await bundle.close();
  for (const file of output) {
    if (file.type !== "chunk" || !containsPathBelow(file.code, root)) continue;
    throw new Error(`${file.fileName} contains a path of this machine, below ${root}`);
  }
}
