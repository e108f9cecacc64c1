import { existsSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

/** The first major version of Node that runs the TypeScript sources as they are. */
const minMajor = 24;

/**
 * Returns the Node to run the sources with: the version that `package.json` pins, else the current one if it is recent
 * enough. The pinned Node is an optional dependency, because it exists for Linux only. Returns undefined if there is neither.
 */
export function findNode(root) {
  const pinned = pinnedNode(root);
  if (existsSync(pinned)) return pinned;
  const major = Number(process.versions.node.split(".")[0]);
  return major >= minMajor ? process.execPath : undefined;
}

/**
 * Makes the pinned Node available as `npx node` and to npm scripts. npm links it too, but npm 10 removes the link when it
 * discards the package of the other architecture, which has a program of the same name.
 */
export function linkNode(root) {
  const link = join(root, "node_modules", ".bin", "node");
  if (!existsSync(pinnedNode(root)) || existsSync(link)) return;
  rmSync(link, { force: true });
  symlinkSync(join("..", `node-linux-${process.arch}`, "bin", "node"), link);
}

function pinnedNode(root) {
  return join(root, "node_modules", `node-linux-${process.arch}`, "bin", "node");
}
