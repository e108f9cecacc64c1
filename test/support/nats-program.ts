import { execFileSync } from "node:child_process";
import process from "node:process";
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
