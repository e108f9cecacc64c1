import type { Command } from "commander";
import type { Reeve } from "./client.ts";
import { openReeve } from "./client.ts";
import type { ExitCode } from "./exit-code.ts";
import { exitCodes } from "./exit-code.ts";
import type { ServerOptions } from "./server-address.ts";
import { serverAddress } from "./server-address.ts";
import type { Terminal } from "./terminal.ts";

/** What every command has to work with. */
export interface Cli {
  readonly terminal: Terminal;
  readonly environment: NodeJS.ProcessEnv;
  /** Aborts on Ctrl-C and SIGTERM. */
  readonly signal: AbortSignal;
  /** How the process will end; a command that says nothing ends well. */
  exitCode: ExitCode;
  /** The server that was asked last, for words about failures. */
  url: string | undefined;
}

export function newCli(given: Pick<Cli, "terminal" | "environment" | "signal">): Cli {
  return { ...given, exitCode: exitCodes.ok, url: undefined };
}

/** Runs an action of `command` against the server that its options name. */
export async function withReeve(
  cli: Cli,
  command: Command,
  action: (reeve: Reeve) => Promise<ExitCode | void>,
): Promise<void> {
  const address = serverAddress(command.optsWithGlobals<ServerOptions>(), cli.environment);
  cli.url = address.url;
  using reeve = openReeve(address);
  cli.exitCode = (await action(reeve)) ?? cli.exitCode;
}
