import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { ExecEnd, Sandbox, SandboxCommand } from "../port.ts";
import { defaultLimits } from "../port.ts";
import type { FileOutcome } from "./run-file-program.ts";
import { fileCommand, runFileProgram } from "./run-file-program.ts";

/** Maximum text that one read returns, unless a request has another. */
export const maxReadBytes = 1_000_000;
/** Maximum size of a file to edit. */
const maxEditBytes = 10_000_000;

const longTimeoutMs = 300_000;

/** Reads lines of a text file of the workspace: `limit` lines after the first `offset` lines. */
export async function readText(
  sandbox: Sandbox,
  {
    path,
    offset,
    limit,
    maxBytes = maxReadBytes,
  }: {
    readonly path: string;
    readonly offset: number;
    readonly limit: number | undefined;
    readonly maxBytes?: number;
  },
  signal: AbortSignal,
): Promise<FileOutcome> {
  const request = {
    operation: "read",
    path,
    offset,
    limit: limit ?? null,
    most: maxBytes,
  };
  return await runFileProgram(sandbox, { ...command(request), readOnly: true }, signal);
}

/** Writes a whole file of the workspace, and creates its parent folders. */
export async function writeFile(
  sandbox: Sandbox,
  path: string,
  content: NonNullable<SandboxCommand["stdin"]>,
  signal: AbortSignal,
): Promise<FileOutcome> {
  const limits = { ...defaultLimits, timeoutMs: longTimeoutMs };
  const write = command({ operation: "write", path });
  return await runFileProgram(sandbox, { ...write, stdin: content, limits }, signal);
}

/**
 * Replaces the first occurrence of a text in a file of the workspace, atomically. Refused if the text does not occur, or if
 * `expected` is given and differs from the number of occurrences.
 */
export async function editText(
  sandbox: Sandbox,
  {
    path,
    expected,
    ...texts
  }: {
    readonly path: string;
    readonly expected: number | undefined;
    readonly old_text: string;
    readonly new_text: string;
  },
  signal: AbortSignal,
): Promise<FileOutcome> {
  const request = { operation: "edit", path, expected: expected ?? null, most: maxEditBytes };
  const stdin = Buffer.from(JSON.stringify(texts));
  return await runFileProgram(sandbox, { ...command(request), stdin }, signal);
}

/** Yields the bytes of a file of the workspace. Throws a Failure if it does not exist or has more than `maxBytes`. */
export async function* dumpFile(
  sandbox: Sandbox,
  path: string,
  maxBytes: number,
  signal: AbortSignal,
): AsyncIterable<Uint8Array> {
  const limits = { ...defaultLimits, timeoutMs: longTimeoutMs, outputBytes: maxBytes };
  const dump = command({ operation: "dump", path });
  let complaint = "";
  for await (const event of sandbox.exec({ ...dump, readOnly: true, limits }, signal)) {
    if (event.kind === "out" && event.stream === "stdout") yield event.bytes;
    else if (event.kind === "out") complaint += Buffer.from(event.bytes).toString("utf8");
    else if (event.kind === "end") throwUnlessDone(event, path, maxBytes, complaint);
  }
}

function throwUnlessDone(end: ExecEnd, path: string, maxBytes: number, complaint: string): void {
  if (end.reason === "exit" && end.code === 0) return;
  if (end.reason === "output_limit") {
    throw new Failure(
      "exhausted",
      ErrorReason.TOO_LARGE,
      `${path} is larger than ${maxBytes} bytes`,
    );
  }
  const why = complaint.trim() || `cannot read ${path}: ${end.reason}`;
  throw new Failure("invalid", ErrorReason.INVALID_REQUEST, why);
}

function command(request: Readonly<Record<string, unknown>>): SandboxCommand {
  return fileCommand("workspace_files", request);
}
