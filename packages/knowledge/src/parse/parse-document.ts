import { ErrorReason } from "@reeve/contracts/error";
import { onAbort } from "@reeve/platform/async/on-abort";
import { every } from "@reeve/platform/async/every";
import { Failure } from "@reeve/platform/failure";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { PassageText } from "./divide-pages.ts";
import type { Format } from "./formats.ts";
import type { Limit, ReaderAnswer } from "./parsed-document.ts";
import { answerSchema, limits, problems } from "./parsed-document.ts";
import type { ReaderProgram } from "./reader-arguments.ts";
import { readerArguments, readerProgram } from "./reader-arguments.ts";
import { residentBytes, startReader } from "./reader-process.ts";
import { limited, sandboxed } from "./reader-sandbox.ts";

/** A document as it was read. */
export interface ParsedDocument {
  /** At least one. */
  readonly passages: readonly PassageText[];
  /** 0: the format has no pages. */
  readonly pageCount: number;
}

export interface ParserOptions {
  /** Default: 4 MiB. */
  readonly maxTextBytes?: number;
  /** The memory of the process that reads the document. Default: 256 MiB. */
  readonly maxMemoryBytes?: number;
  /** Default: 30 seconds. */
  readonly maxDurationMs?: number;
  /** The program that reads. Default: the one of this package. */
  readonly program?: ReaderProgram;
  /** Default: without a sandbox only where bubblewrap does not work. */
  readonly usesSandbox?: boolean;
  /** Where failures of the program itself are reported. */
  readonly log?: Pick<Logger, "error" | "info">;
}

/** Reads documents. */
export type ParseDocument = (
  name: string,
  format: Format,
  bytes: Uint8Array,
  signal: AbortSignal,
) => Promise<ParsedDocument>;

const memoryIntervalMs = 25;
/** JSON may need six characters for one of the text. */
const maxOutputFactor = 8;

/**
 * Returns a function that reads each document in a process of its own, which ends with it: without environment variables, without
 * permission to write files, to read others than its code, or to start programs, and with limits of memory, time, and output. Where
 * bubblewrap works, the process has no network either. Throws a Failure with reason DOCUMENT_UNREADABLE, or DOCUMENT_TOO_LARGE if a limit is
 * exceeded; one of kind `unavailable` if the process cannot be started, and one of kind `internal` if it fails otherwise.
 */
export function documentParser(options: ParserOptions = {}): ParseDocument {
  const {
    maxTextBytes = 4 * 1_048_576,
    maxMemoryBytes = 256 * 1_048_576,
    maxDurationMs = 30_000,
    program = readerProgram(),
    usesSandbox = true,
    log,
  } = options;
  const args = readerArguments(program, maxMemoryBytes);
  let isReported = false;
  const commandFor = async (format: Format) => {
    const own = [...args, format, String(maxTextBytes)];
    if (!usesSandbox) return limited({ file: process.execPath, args: own });
    const command = await sandboxed(own, program.code);
    const { isSandboxed } = command;
    if (!isReported) log?.info({ isSandboxed }, "documents are read in processes of their own");
    isReported = true;
    return command;
  };
  return async (name, format, bytes, signal) => {
    signal.throwIfAborted();
    const command = await commandFor(format);
    await using child = await startReader(command).catch((cause: unknown) => {
      const message = `document "${name}" cannot be read now: no process could be started; try again`;
      throw new Failure("unavailable", ErrorReason.UNAVAILABLE, message, { cause });
    });
    const ending = new AbortController();
    const stop = (reason: unknown) => ending.abort(reason);
    using resources = new DisposableStack();
    resources.use(onAbort(signal, () => stop(signal.reason)));
    const late = tooLarge(name, `it could not be read in ${maxDurationMs / 1_000} seconds`);
    const timer = setTimeout(() => stop(late), maxDurationMs);
    resources.defer(() => clearTimeout(timer));
    const needsMemory = tooLarge(name, `reading it takes more than ${maxMemoryBytes} bytes`);
    const checkMemory = async () => {
      if ((await residentBytes(child.pid)) > maxMemoryBytes) stop(needsMemory);
    };
    resources.use(every(memoryIntervalMs, () => void checkMemory()));
    const end = await child.exchange(bytes, maxOutputFactor * maxTextBytes, ending.signal);
    if (end.kind === "answered") return parsedFrom(name, end.output, maxTextBytes);
    if (end.kind === "wrote_too_much") throw tooLarge(name, limits.text);
    // V8 ends a process that needs more than its heap.
    if (end.stderr.includes("heap out of memory")) throw needsMemory;
    log?.error({ cause: end.cause, stderr: end.stderr, format }, "the reader of documents failed");
    const message = `document "${name}" was not read: the process that reads it ended with ${end.cause}`;
    throw new Failure("internal", ErrorReason.INTERNAL, message);
  };
}

function adviceFor(limit: Limit): string | undefined {
  return limit === "depth" ? "close its elements, or save it as text or PDF" : undefined;
}

function tooLarge(name: string, limit: string, advice = "divide it into smaller ones"): Failure {
  const message = `document "${name}" is too large: ${limit}; ${advice}`;
  return new Failure("exhausted", ErrorReason.DOCUMENT_TOO_LARGE, message);
}

/** Checks what the process wrote: a hostile document may have taken it over. */
function parsedFrom(name: string, output: string, maxTextBytes: number): ParsedDocument {
  const answer = answerIn(output);
  if (answer === undefined) throw unreadable(name, "its reader gave no valid answer");
  if ("tooLarge" in answer)
    throw tooLarge(name, limits[answer.tooLarge], adviceFor(answer.tooLarge));
  if ("unreadable" in answer) throw unreadable(name, problems[answer.unreadable]);
  const textBytes = answer.passages.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  if (textBytes > maxTextBytes) throw tooLarge(name, limits.text);
  return answer;
}

function answerIn(output: string): ReaderAnswer | undefined {
  try {
    return answerSchema.safeParse(JSON.parse(output)).data;
  } catch {
    return undefined;
  }
}

function unreadable(name: string, problem: string): Failure {
  const message = `document "${name}" cannot be read: ${problem}`;
  return new Failure("invalid", ErrorReason.DOCUMENT_UNREADABLE, message);
}
