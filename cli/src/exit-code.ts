import type { CommanderError } from "commander";
import type { Failure, FailureKind } from "@reeve/platform/failure";

/** What the exit code of a command means; `--help` says the same. */
export const exitCodes = {
  ok: 0,
  /** The run failed or was cancelled, or the server refused. */
  failed: 1,
  usage: 2,
  /** Something is missing on this machine. */
  missing: 3,
  /** The server cannot be reached. */
  unreachable: 4,
  /** Ended by Ctrl-C, as shells count it. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

export const exitCodeHelp = `
Exit codes:
  0  done
  1  the run failed or was cancelled, or the request was refused
  2  the command was not used rightly
  3  something is missing on this machine
  4  the server cannot be reached`;

/** The command was not used rightly. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Something that a command needs is missing on this machine. */
export class MissingError extends Error {
  override readonly name = "MissingError";
}

const byKind = {
  invalid: exitCodes.failed,
  unsupported: exitCodes.failed,
  not_found: exitCodes.failed,
  exists: exitCodes.failed,
  conflict: exitCodes.failed,
  precondition: exitCodes.failed,
  out_of_range: exitCodes.failed,
  unauthenticated: exitCodes.failed,
  denied: exitCodes.failed,
  exhausted: exitCodes.failed,
  unavailable: exitCodes.unreachable,
  internal: exitCodes.failed,
} satisfies Record<FailureKind, ExitCode>;

export function exitCodeOf(failure: Failure): ExitCode {
  return byKind[failure.kind];
}

/** The exit code of what commander throws: asking for help or the version is no mistake. */
export function exitCodeOfCommander(error: CommanderError): ExitCode {
  return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
}
