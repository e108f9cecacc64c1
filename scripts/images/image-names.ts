import process from "node:process";

/** The version of this repository. */
const version = "0.1.0";

/** What the images are called, all of them beginning with `prefix`. */
export function imageNamesOf(prefix: string) {
  return {
    /** gateway, runtime, approvals, provision. */
    services: `${prefix}:${version}`,
    /** The same with what a toolhost executes code with. */
    toolhost: `${prefix}-toolhost:${version}`,
    nats: `${prefix}-nats:local`,
    nodeBase: `${prefix}-base-node:local`,
    runtimeBase: `${prefix}-base-runtime:local`,
    toolhostBase: `${prefix}-base-toolhost:local`,
  } as const;
}

export const defaultPrefix = "reeve";

/** The names on this machine: REEVE_IMAGE_PREFIX may stand for `reeve`. */
export const imageNames = imageNamesOf(process.env["REEVE_IMAGE_PREFIX"] || defaultPrefix);
