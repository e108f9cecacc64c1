import { existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

/** The first major version of Node that runs the TypeScript sources as they are. */
const minMajor = 24;

/**
 * Returns the Node to run the sources with: the version that `package.json` pins, else the current one if it is recent
 * enough. The pinned Node is an optional dependency, because it exists for Linux only. Returns undefined if there is neither.
 */
export function findNode(root) {
  const pinned = join(root, "node_modules", ".bin", "node");
  if (existsSync(pinned)) return pinned;
  const major = Number(process.versions.node.split(".")[0]);
  return major >= minMajor ? process.execPath : undefined;
}
