import { constants } from "node:os";
import type { ExecEnd, OutputStream, Sandbox, SandboxCommand } from "../port.ts";

/** All that a command gave. */
export interface Collected {
  readonly end: ExecEnd;
  text(stream: OutputStream): string;
}

/** Runs a command to its end and keeps its output, which the command's own limit bounds. */
export async function collect(
  sandbox: Sandbox,
  command: SandboxCommand,
  signal: AbortSignal,
): Promise<Collected> {
  const { end, bytes } = await collectBytes(sandbox, command, signal);
  return { end, text: (stream) => bytes(stream).toString("utf8") };
}

/** The same, for output that is no text. */
export async function collectBytes(sandbox: Sandbox, command: SandboxCommand, signal: AbortSignal) {
  const chunks: Record<OutputStream, Uint8Array[]> = { stdout: [], stderr: [], result: [] };
  let end: ExecEnd = { kind: "end", reason: "sandbox_lost", code: undefined, durationMs: 0 };
  for await (const event of sandbox.exec(command, signal)) {
    if (event.kind === "out") chunks[event.stream].push(event.bytes);
    else if (event.kind === "end") end = event;
  }
  return { end, bytes: (stream: OutputStream) => Buffer.concat(chunks[stream]) };
}

/** How a command ended otherwise than by itself, told to the model; undefined when it ended by itself. */
export function endNote({ reason, code }: ExecEnd, timeoutMs: number): string | undefined {
  switch (reason) {
    case "exit":
      return undefined;
    case "signal":
      return code === 128 + constants.signals.SIGXCPU
        ? "ended because it used more processor time than it may"
        : `ended by signal ${(code ?? 128) - 128}`;
    case "timeout":
      return `ended after the time limit of ${timeoutMs / 1_000} s`;
    case "oom":
      return "ended because it used more memory than it may";
    case "output_limit":
      return "ended because it wrote more output than it may";
    case "disk_limit":
      return "ended because the workspace is larger than it may be, or has folders that cannot be measured";
    case "cancelled":
      return "cancelled";
    case "sandbox_lost":
      return "the sandbox was lost; its outcome is unknown";
  }
}
