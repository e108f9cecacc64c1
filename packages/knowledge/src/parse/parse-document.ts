import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import process from "node:process";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { PassageText } from "./divide-pages.ts";
import type { Format } from "./formats.ts";
import { readerArguments, readerProgram } from "./reader-arguments.ts";

/** A document as it was read. */
export interface ParsedDocument {
  /** At least one. */
  readonly passages: readonly PassageText[];
  /** 0: the format has no pages. */
  readonly pageCount: number;
}

export interface ParseLimits {
  /** Default: 4 MiB. */
  readonly maxTextBytes?: number;
  /** The memory of the process that reads the document. Default: 512 MiB. */
  readonly maxMemoryBytes?: number;
  /** Default: 30 seconds. */
  readonly maxDurationMs?: number;
}

/** Reads documents. */
export type ParseDocument = (
  name: string,
  format: Format,
  bytes: Uint8Array,
  signal: AbortSignal,
) => Promise<ParsedDocument>;

const memoryIntervalMs = 50;
/** JSON may need six characters for one of the text. */
const maxOutputFactor = 8;

/**
 * Returns a function that reads each document in a process of its own, which ends with it: without environment variables, without
 * permission to write files, to read others than its code, or to start programs, and with limits of memory, time, and output. Throws a
 * Failure with reason DOCUMENT_UNREADABLE, or DOCUMENT_TOO_LARGE if a limit is exceeded.
 */
export function documentParser({
  maxTextBytes = 4 * 1_048_576,
  maxMemoryBytes = 512 * 1_048_576,
  maxDurationMs = 30_000,
}: ParseLimits = {}): ParseDocument {
  return async (name, format, bytes, signal) => {
    signal.throwIfAborted();
    const args = readerArguments(readerProgram(), maxMemoryBytes);
    const ending = new AbortController();
    await using child = ownedProcess([...args, format, String(maxTextBytes)]);
    const tooLarge = (limit: string) =>
      new Failure(
        "exhausted",
        ErrorReason.DOCUMENT_TOO_LARGE,
        `document "${name}" is too large: ${limit}; divide it into smaller ones`,
      );
    const stop = (reason: unknown) => ending.abort(reason);
    const onAbort = () => stop(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    const timer = setTimeout(
      () => stop(tooLarge(`it could not be read in ${maxDurationMs / 1_000} seconds`)),
      maxDurationMs,
    );
    const needsMemory = tooLarge(`reading it takes more than ${maxMemoryBytes} bytes of memory`);
    const watch = setInterval(() => void checkMemory(), memoryIntervalMs);
    const checkMemory = async () => {
      if ((await residentBytes(child.pid)) > maxMemoryBytes) stop(needsMemory);
    };
    try {
      const output = await child.exchange(bytes, maxOutputFactor * maxTextBytes, ending.signal);
      if (output === undefined) throw needsMemory;
      return checked(name, output);
    } catch (error) {
      if (ending.signal.aborted) throw ending.signal.reason;
      throw error;
    } finally {
      clearTimeout(timer);
      clearInterval(watch);
      signal.removeEventListener("abort", onAbort);
    }
  };
}

function ownedProcess(args: readonly string[]) {
  const child = spawn(process.execPath, args, {
    env: {},
    cwd: "/",
    stdio: ["pipe", "pipe", "ignore"],
  });
  // What ends early does not read its input.
  child.stdin.on("error", () => undefined);
  const ended = once(child, "close");
  ended.catch(() => undefined);
  return {
    pid: child.pid,
    /** Returns what the process writes. Undefined: it died, or wrote too much. */
    async exchange(
      input: Uint8Array,
      maxBytes: number,
      signal: AbortSignal,
    ): Promise<string | undefined> {
      const kill = () => void child.kill("SIGKILL");
      signal.addEventListener("abort", kill, { once: true });
      child.stdin.end(input);
      const chunks: Buffer[] = [];
      let size = 0;
      for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
        size += chunk.length;
        if (size > maxBytes) return undefined;
        chunks.push(chunk);
      }
      const [code] = await ended;
      signal.throwIfAborted();
      return code === 0 ? Buffer.concat(chunks).toString("utf8") : undefined;
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await ended.catch(() => undefined);
    },
  };
}

/** Returns the memory of a process. 0: it is not known, as on systems without `/proc`. */
async function residentBytes(pid: number | undefined): Promise<number> {
  const statm = await readFile(`/proc/${pid}/statm`, "utf8").catch(() => "");
  return Number(statm.split(" ")[1] ?? 0) * 4_096;
}

/** Checks what the process wrote: a hostile document may have taken it over. */
function checked(name: string, output: string): ParsedDocument {
  const parsed = JSON.parse(output) as {
    readonly passages?: readonly PassageText[];
    readonly pageCount?: number;
    readonly unreadable?: string;
    readonly tooLarge?: string;
  };
  const { passages, pageCount, unreadable, tooLarge } = parsed;
  if (tooLarge !== undefined) {
    const message = `document "${name}" is too large: ${tooLarge}; divide it into smaller ones`;
    throw new Failure("exhausted", ErrorReason.DOCUMENT_TOO_LARGE, message);
  }
  if (unreadable !== undefined || passages === undefined || pageCount === undefined) {
    const message = `document "${name}" cannot be read: ${unreadable ?? "its reader gave no answer"}`;
    throw new Failure("invalid", ErrorReason.DOCUMENT_UNREADABLE, message);
  }
  return { passages, pageCount };
}
