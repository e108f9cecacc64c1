import { ReeveError } from "@reeve/client";
import { Failure } from "@reeve/platform/failure";
import { CommanderError } from "commander";
import { isAborted } from "./abort.ts";
import type { Context } from "./context.ts";
import { createContext } from "./context.ts";
import type { ExitCode } from "./exit-code.ts";
import {
  exitCodeOf,
  exitCodeOfCommander,
  exitCodes,
  MissingError,
  UsageError,
} from "./exit-code.ts";
import { createProgram } from "./program.ts";
import { asTyped } from "./reeve-command.ts";
import { renderError } from "./render/error.ts";

/** Runs one command line, prints the error if there is one, and returns the exit code. */
export async function runCli(
  args: readonly string[],
  given: Pick<Context, "terminal" | "environment" | "signal">,
): Promise<ExitCode> {
  const context = createContext(given);
  try {
    await createProgram(context).parseAsync(args, { from: "user" });
    return context.exitCode;
  } catch (error) {
    return reportError(context, error);
  }
}

function reportError(context: Context, error: unknown): ExitCode {
  const { terminal, program, url, stoppedDataDir, signal } = context;
  // Commander has printed its own message.
  if (error instanceof CommanderError) return exitCodeOfCommander(error);
  if (isAborted(signal)) return exitCodes.interrupted;
  terminal.note(asTyped(renderError(error, url, terminal.style, stoppedDataDir), program));
  if (error instanceof UsageError) return exitCodes.usage;
  if (error instanceof MissingError) return exitCodes.missing;
  if (error instanceof ReeveError || error instanceof Failure) return exitCodeOf(error);
  return exitCodes.failed;
}
