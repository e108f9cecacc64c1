/** The programs in the images, by the names of their bundles, with the first file of each. */
export const shippedPrograms = {
  gateway: "services/gateway/src/main.ts",
  "document-reader": "packages/knowledge/src/parse/document-reader.ts",
  runtime: "services/runtime/src/main.ts",
  toolhost: "services/toolhost/src/main.ts",
  "page-reader": "services/toolhost/src/tools/web/page/page-reader.ts",
  approvals: "services/approvals/src/main.ts",
  reeve: "cli/src/main.ts",
  keys: "deploy/compose/keys.mjs",
} as const;

/** The folder of the bundles in the images and in the npm package of the command line. */
export const programsFolder = "programs";

/**
 * The files beside the bundles that programs read at run time, relative to the root: the Python programs of sandboxes. An
 * installation has them under the same paths.
 */
export const programFiles: readonly string[] = ["packages/sandbox/src/programs/*.py"];
