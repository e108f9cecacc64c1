import { Code, ReeveError } from "@reeve/client";
import type { Failure } from "@reeve/platform/failure";
import type { CommanderError } from "commander";

/** Exit codes of the command line. `exitCodeHelp` documents them. */
export const exitCodes = {
  ok: 0,
  /** The run failed or was cancelled, or the server refused the request. */
  failed: 1,
  usage: 2,
  /** A program that the command needs is not installed, or does not work on this machine. */
  missing: 3,
  unreachable: 4,
  /** A log is not what its writers appended, or a receipt is not what was signed. */
  altered: 5,
  /** `apply --dry-run --exit-code` found something to change. */
  changes: 6,
  /** Ctrl-C: 128 plus the number of SIGINT. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

export const exitCodeHelp = `
Exit codes:
  0  success
  1  the run failed or was cancelled, or the server refused the request
  2  invalid usage
  3  this machine lacks a required program
  4  the server cannot be reached
  5  \`verify\` found a problem in the log of the run, or in the receipt
  6  \`apply --dry-run --exit-code\` found something to change`;

/** Invalid usage: wrong arguments, options, or environment variables. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** This machine lacks something that the command needs. */
export class MissingError extends Error {
  override readonly name = "MissingError";
}

/** Returns the exit code for an error of the server, or for a failure of this process. */
export function exitCodeOf(error: ReeveError | Failure): ExitCode {
  const isUnreachable =
    error instanceof ReeveError ? error.code === Code.Unavailable : error.kind === "unavailable";
  return isUnreachable ? exitCodes.unreachable : exitCodes.failed;
}

/** Returns the exit code for an error of commander, which also throws for `--help` and `--version`. */
export function exitCodeOfCommander(error: CommanderError): ExitCode {
  return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
}
