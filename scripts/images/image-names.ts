import process from "node:process";

/** Every image that is made here begins with it: `reeve`, unless REEVE_IMAGE_PREFIX says otherwise. */
const prefix = process.env["REEVE_IMAGE_PREFIX"] || "reeve";
/** The version of this repository. */
const version = "0.1.0";

export const imageNames = {
  /** gateway, runtime, approvals, provision. */
  services: `${prefix}:${version}`,
  /** The same with what a toolhost executes code with. */
  toolhost: `${prefix}-toolhost:${version}`,
  nats: `${prefix}-nats:local`,
  nodeBase: `${prefix}-base-node:local`,
  runtimeBase: `${prefix}-base-runtime:local`,
  toolhostBase: `${prefix}-base-toolhost:local`,
} as const;
