import process from "node:process";

/** The first major version of Node that has what this package uses. Its manifest names it too. */
const minMajor = 24;

/** Throws an error that names the Node to install, before a dependency fails on an older one without a reason. */
export function assertNode(version: string): void {
  if (Number(version.split(".")[0]) >= minMajor) return;
  throw new Error(`@reeve/local needs Node ${minMajor} or later, and this is Node ${version}`);
}

assertNode(process.versions.node);
