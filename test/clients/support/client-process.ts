import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import type { Command } from "./toolchains.ts";

const root = join(import.meta.dirname, "../../..");

/** The address, credentials, and options of a client. */
export interface Setting {
  readonly url: string;
  readonly token?: string;
  /** Path of the trusted authority's certificate. */
  readonly ca?: string;
  readonly requestMs?: number;
  readonly idleTimeoutMs?: number;
  readonly reconnectTimeoutMs?: number;
  /** Timeout for a file transfer. Default: the client's. */
  readonly transferMs?: number;
}

/** The output of a client. */
export interface ClientOutput {
  /** The sequences of the events, in order of arrival. */
  readonly events: readonly number[];
  /** All other output, merged. */
  readonly result: ClientResult;
}

export interface ClientResult {
  readonly run?: string;
  readonly status?: number;
  readonly approved?: string;
  readonly ended?: number;
  readonly through?: number;
  readonly size?: number;
  readonly name?: string;
  readonly sha256?: string;
  readonly count?: number;
  readonly ms?: number;
  /** Id of the call that was executed last, and how many were. */
  readonly served?: string;
  readonly calls?: number;
  readonly left?: boolean;
  readonly error?: {
    readonly code: string;
    readonly reason: string;
    readonly message: string;
    readonly fields: readonly string[];
  };
}

/** The maximum duration of a client process. */
const hangMs = 90_000;

/** Executes one operation with a client in a separate process. Calls `onEvent` for each event as it arrives. */
export async function perform(
  { command: [program = "", ...args], env }: Command,
  operation: readonly string[],
  { url, token, ca, transferMs, ...times }: Setting,
  onEvent?: (sequence: number) => void,
): Promise<ClientOutput> {
  const { requestMs = 20_000, idleTimeoutMs = 12_000, reconnectTimeoutMs = 30_000 } = times;
  const child = spawn(program, [...args, ...operation], {
    env: {
      ...process.env,
      ...env,
      REEVE_URL: url,
      REEVE_TOKEN: token ?? "",
      REEVE_CA: ca ?? "",
      REEVE_REQUEST_MS: String(requestMs),
      REEVE_IDLE_TIMEOUT_MS: String(idleTimeoutMs),
      REEVE_RECONNECT_TIMEOUT_MS: String(reconnectTimeoutMs),
      ...(transferMs !== undefined && { REEVE_TRANSFER_MS: String(transferMs) }),
    },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: hangMs,
    killSignal: "SIGKILL",
  });
  const events: number[] = [];
  let result: ClientResult = {};
  let complaints = "";
  child.stderr.on("data", (chunk: Buffer) => (complaints += chunk.toString()));
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { event, ...rest } = JSON.parse(line) as ClientResult & { readonly event?: number };
    if (event !== undefined) {
      events.push(event);
      onEvent?.(event);
    }
    const calls = (result.calls ?? 0) + (rest.served === undefined ? 0 : 1);
    result = { ...result, ...rest, ...(calls > 0 && { calls }) };
  });
  await once(child, "close");
  if (child.exitCode !== 0) {
    const how = child.exitCode ?? child.signalCode;
    throw new Error(`${operation.join(" ")} ended with ${how}: ${complaints.slice(-2_000)}`);
  }
  return { events, result };
}

/** Returns the output of a program that only needs an address and a token. */
export async function outputOf(
  { command: [program = "", ...args], env }: Command,
  url: string,
  token: string,
): Promise<string> {
  const all = { ...process.env, ...env, REEVE_URL: url, REEVE_TOKEN: token };
  const options = { cwd: root, env: all, timeout: hangMs };
  const { stdout } = await promisify(execFile)(program, args, options);
  return stdout;
}
