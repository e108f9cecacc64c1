import type { Client, ClientOptions } from "@reeve/client";
import { connect } from "@reeve/client";
import { Failure } from "@reeve/platform/failure";
import { connectErrorOf } from "@reeve/platform/rpc/connect-failure";
import type { Command } from "commander";
import type { ExitCode } from "./exit-code.ts";
import { exitCodes } from "./exit-code.ts";
import { plainText } from "./render/plain-text.ts";
import type { ServerAddress, ServerOptions } from "./server-address.ts";
import { serverAddress } from "./server-address.ts";
import { asTyped, reeveCommand } from "./reeve-command.ts";
import { currentToken } from "./sign-in/current-token.ts";
import { configFolder, StoredSignIns, UnreadableSignIns } from "./sign-in/stored-sign-ins.ts";
import type { Terminal } from "./terminal.ts";

/** What a command line works with. */
export interface Context {
  readonly terminal: Terminal;
  readonly environment: NodeJS.ProcessEnv;
  /** Aborts on Ctrl-C and SIGTERM. */
  readonly signal: AbortSignal;
  /** Exit code of the process. `ok`, unless the command sets another one. */
  exitCode: ExitCode;
  /** Address of the server that the command uses, for error messages. */
  url: string | undefined;
  /** The data folder that the user selects, if no server of it runs. The server at `url` may then be another one. */
  stoppedDataDir: string | undefined;
  /** How the user runs `reeve` with the same data folder, for hints of errors: `up` has no other server. */
  program: string;
  /** How the user runs `reeve` against the same server, for hints: the program with the options that select the server. */
  reeve: string;
}

export function createContext(
  given: Pick<Context, "terminal" | "environment" | "signal">,
): Context {
  const reeve = reeveCommand({}, given.environment);
  const server = { url: undefined, stoppedDataDir: undefined };
  return { ...given, ...server, exitCode: exitCodes.ok, program: reeve, reeve };
}

/** Runs an action of `command` with a client of the server that the options name. The action may return an exit code. */
export async function withClient(
  context: Context,
  command: Command,
  action: (reeve: Client) => Promise<ExitCode | void>,
): Promise<void> {
  const options = command.optsWithGlobals<ServerOptions>();
  const address = serverAddress(options, context.environment);
  context.url = address.url;
  context.stoppedDataDir = address.stoppedDataDir;
  context.program = reeveCommand({ dataDir: options.dataDir }, context.environment);
  context.reeve = reeveCommand(options, context.environment);
  const token = await tokenFor(address, options, context);
  using reeve = openClient({ url: address.url, token, tls: address.tls });
  context.exitCode = (await action(reeve)) ?? context.exitCode;
}

/**
 * Returns the token that the user gives, else that of a sign-in for the server, else that of the data folder. The token of a
 * sign-in may expire while the command works. Sign-ins that cannot be read are noted, and count as none.
 */
async function tokenFor(
  { url, token }: ServerAddress,
  options: ServerOptions,
  {
    terminal,
    environment,
    program,
    signal,
  }: Pick<Context, "terminal" | "environment" | "program" | "signal">,
): Promise<ClientOptions["token"]> {
  if (options.token !== undefined || environment["REEVE_TOKEN"]) return token;
  const signIns = new StoredSignIns(configFolder(environment));
  try {
    if ((await currentToken(signIns, url, signal)) === undefined) return token;
  } catch (error) {
    if (!(error instanceof UnreadableSignIns)) throw error;
    terminal.note(asTyped(`${plainText(error.message)}\n`, program));
    return token;
  }
  return async () => {
    try {
      return (await currentToken(signIns, url, signal)) ?? "";
    } catch (error) {
      throw error instanceof Failure ? connectErrorOf(error) : error;
    }
  };
}

/** Returns a client with the time limits of a command line. */
export function openClient({
  url,
  token,
  tls,
}: Pick<ServerAddress, "url"> &
  Partial<Pick<ServerAddress, "tls">> &
  Pick<ClientOptions, "token">): Client {
  return connect({
    address: url,
    token,
    ...tls,
    requestTimeoutMs: 60_000,
    // A person who has mistyped an address should not wait long for the error.
    retryTimeoutMs: 1_000,
    // Large files, slow networks.
    transferTimeoutMs: 3_600_000,
  });
}
