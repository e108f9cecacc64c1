import process from "node:process";

/** The version of this repository. */
const version = "0.1.0";

/** Returns the names of all images. Each begins with `prefix`. */
export function imageNamesOf(prefix: string) {
  return {
    /** The gateway, runtime, and approvals services, and `reeve provision`. */
    services: `${prefix}:${version}`,
    /** The same, with the programs that a toolhost executes code with. */
    toolhost: `${prefix}-toolhost:${version}`,
    nats: `${prefix}-nats:local`,
    nodeBase: `${prefix}-base-node:local`,
    runtimeBase: `${prefix}-base-runtime:local`,
    toolhostBase: `${prefix}-base-toolhost:local`,
  } as const;
}

export const defaultPrefix = "reeve";

/** The names on this machine. REEVE_IMAGE_PREFIX replaces the prefix `reeve`. */
export const imageNames = imageNamesOf(process.env["REEVE_IMAGE_PREFIX"] || defaultPrefix);
