import { CommanderError } from "commander";
import { ConnectError } from "@connectrpc/connect";
import { failureFrom } from "@reeve/platform/rpc/connect-failure";
import { Failure } from "@reeve/platform/failure";
import { isAborted } from "./aborted.ts";
import type { Cli } from "./cli.ts";
import { newCli } from "./cli.ts";
import type { ExitCode } from "./exit-code.ts";
import {
  exitCodeOf,
  exitCodeOfCommander,
  exitCodes,
  MissingError,
  UsageError,
} from "./exit-code.ts";
import { createProgram } from "./program.ts";
import { renderFailure } from "./render/failure.ts";

/** Runs one command line, says what went wrong in a sentence, and returns the exit code. */
export async function runCli(
  args: readonly string[],
  given: Pick<Cli, "terminal" | "environment" | "signal">,
): Promise<ExitCode> {
  const cli = newCli(given);
  try {
    await createProgram(cli).parseAsync(args, { from: "user" });
    return cli.exitCode;
  } catch (error) {
    return explain(cli, error);
  }
}

function explain(cli: Cli, error: unknown): ExitCode {
  const { terminal, url, signal } = cli;
  if (error instanceof CommanderError) return exitCodeOfCommander(error);
  if (isAborted(signal)) return exitCodes.interrupted;
  const say = (message: string) => terminal.note(`${terminal.colours.red("error:")} ${message}\n`);
  if (error instanceof UsageError) {
    say(error.message);
    return exitCodes.usage;
  }
  if (error instanceof MissingError) {
    say(error.message);
    return exitCodes.missing;
  }
  if (error instanceof Failure || error instanceof ConnectError) {
    const failure = failureFrom(error);
    terminal.note(renderFailure(failure, url, terminal.colours));
    return exitCodeOf(failure);
  }
  say(error instanceof Error ? error.message : String(error));
  return exitCodes.failed;
}
