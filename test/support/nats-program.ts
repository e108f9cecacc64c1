import { execFileSync } from "node:child_process";
import process from "node:process";
import { keepsReplicas } from "@reeve/jetstream/streams/replication-support";
import { findProgram } from "@reeve/platform/nats/nats-server";

/** Returns the NATS server that clusters under test run: `REEVE_NATS_SERVER`, or the one on the PATH. */
export function natsProgram(): string {
  return process.env["REEVE_NATS_SERVER"] ?? findProgram("nats-server") ?? "nats-server";
}

/** Returns the version of a NATS server, as `2.12.15`. */
export function natsVersion(program: string = natsProgram()): string {
  const output = execFileSync(program, ["--version"], { encoding: "utf8" });
  const version = /v(\d+\.\d+\.\d+)/.exec(output)?.[1];
  if (version === undefined) throw new Error(`${program} --version prints ${output.trim()}`);
  return version;
}

/**
 * Returns why tests with several replicas are skipped, as the end of the name of their suite; empty if they run. Throws instead
 * if `REEVE_REPLICAS` is `required`.
 */
export function whyNoReplicas(): string {
  const program = natsProgram();
  const version = natsVersion(program);
  if (keepsReplicas(version)) return "";
  if (process.env["REEVE_REPLICAS"] === "required") {
    throw new Error(
      `${program} has version ${version}, which cannot keep replicas; set REEVE_NATS_SERVER to a newer one`,
    );
  }
  return ` (skipped: ${program} has version ${version}; set REEVE_NATS_SERVER to a newer one)`;
}
