import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import type { Command } from "./toolchains.ts";

const root = join(import.meta.dirname, "../../..");

/** Where a client goes, and what it bears. */
export interface Setting {
  readonly url: string;
  readonly token?: string;
  /** Path of the certificate of the authority that it trusts. */
  readonly ca?: string;
  readonly requestMs?: number;
  readonly silenceMs?: number;
  readonly patienceMs?: number;
  /** How long a file may be on its way. Default: that of the client. */
  readonly transferMs?: number;
}

/** What a client said. */
export interface Said {
  /** The sequences of the events, in the order in which they came. */
  readonly events: readonly number[];
  /** Everything else, together. */
  readonly told: Told;
}

export interface Told {
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
  readonly error?: {
    readonly code: string;
    readonly reason: string;
    readonly message: string;
    readonly fields: readonly string[];
  };
}

/** No client may take longer, whatever happens to it; a hang is a failure. */
const hangMs = 90_000;

/** Has a client of some language do one operation in a process of its own. `onEvent` is told of each event as it comes. */
export async function perform(
  { command: [program = "", ...args], env }: Command,
  operation: readonly string[],
  { url, token, ca, transferMs, ...times }: Setting,
  onEvent?: (sequence: number) => void,
): Promise<Said> {
  const { requestMs = 20_000, silenceMs = 12_000, patienceMs = 30_000 } = times;
  const child = spawn(program, [...args, ...operation], {
    env: {
      ...process.env,
      ...env,
      REEVE_URL: url,
      REEVE_TOKEN: token ?? "",
      REEVE_CA: ca ?? "",
      REEVE_REQUEST_MS: String(requestMs),
      REEVE_SILENCE_MS: String(silenceMs),
      REEVE_PATIENCE_MS: String(patienceMs),
      ...(transferMs !== undefined && { REEVE_TRANSFER_MS: String(transferMs) }),
    },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: hangMs,
    killSignal: "SIGKILL",
  });
  const events: number[] = [];
  let told: Told = {};
  let complaints = "";
  child.stderr.on("data", (chunk: Buffer) => (complaints += chunk.toString()));
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { event, ...rest } = JSON.parse(line) as Told & { readonly event?: number };
    if (event !== undefined) {
      events.push(event);
      onEvent?.(event);
    }
    told = { ...told, ...rest };
  });
  await once(child, "close");
  if (child.exitCode !== 0) {
    const how = child.exitCode ?? child.signalCode;
    throw new Error(`${operation.join(" ")} ended with ${how}: ${complaints.slice(-2_000)}`);
  }
  return { events, told };
}

/** What a program that needs nothing but an address and a token writes. */
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
