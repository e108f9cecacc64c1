import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { rolldown } from "rolldown";

const root = join(import.meta.dirname, "../..");
const folder = join(root, "node_modules/.cache/reeve-programs");

const programs = {
  gateway: "services/gateway/src/main.ts",
  runtime: "services/runtime/src/main.ts",
  toolhost: "services/toolhost/src/main.ts",
  approvals: "services/approvals/src/main.ts",
  reeve: "cli/src/main.ts",
  "progress-server": "services/toolhost/test/support/progress-server.ts",
} as const;

/** Names of modules that mean the folder of their file, unless the module defines them itself. */
const folderNames = /import\.meta\.dirname|(?<![\w$.])__dirname(?![\w$])/;
const ownFolderName = /\b(?:const|let|var)\s+__dirname\b/;

/**
 * Bundles the services, the command line, and the MCP server of most tests, each with everything that it imports, and returns the folder. For tests, which start
 * hundreds of them: a bundle starts with a third of the processor time. A program finds its other files in the checkout.
 */
export async function compilePrograms(): Promise<string> {
  rmSync(folder, { recursive: true, force: true });
  const bundle = await rolldown({
    cwd: root,
    input: programs,
    platform: "node",
    logLevel: "warn",
    plugins: [
      {
        name: "folders-of-sources",
        transform: {
          filter: { code: folderNames },
          handler: (code, id) =>
            ownFolderName.test(code)
              ? undefined
              : code.replaceAll(new RegExp(folderNames, "g"), JSON.stringify(dirname(id))),
        },
      },
    ],
  });
  const names = { entryFileNames: "[name].mjs", chunkFileNames: "[name]-[hash].mjs" };
  await bundle.write({ dir: folder, format: "esm", ...names });
  await bundle.close();
  return folder;
}
