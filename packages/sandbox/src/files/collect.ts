import { constants } from "node:os";
import type { ExecEnd, OutputStream, Sandbox, SandboxCommand } from "../port.ts";

/** The end and the output of a command. */
export interface Collected {
  readonly end: ExecEnd;
  text(stream: OutputStream): string;
}

/** Runs a command to its end and collects its output as text, up to the output limit of the command. */
export async function collect(
  sandbox: Sandbox,
  command: SandboxCommand,
  signal: AbortSignal,
): Promise<Collected> {
  const { end, bytes } = await collectBytes(sandbox, command, signal);
  return { end, text: (stream) => bytes(stream).toString("utf8") };
}

/** Runs a command to its end and collects its output as bytes, up to the output limit of the command. */
export async function collectBytes(sandbox: Sandbox, command: SandboxCommand, signal: AbortSignal) {
  const chunks: Record<OutputStream, Uint8Array[]> = { stdout: [], stderr: [], result: [] };
  let end: ExecEnd = { kind: "end", reason: "sandbox_lost", code: undefined, durationMs: 0 };
  for await (const event of sandbox.exec(command, signal)) {
    if (event.kind === "out") chunks[event.stream].push(event.bytes);
    else if (event.kind === "end") end = event;
  }
  return { end, bytes: (stream: OutputStream) => Buffer.concat(chunks[stream]) };
}

/** Returns how a command was ended, as text for the model; undefined if it exited by itself. */
export function endNote({ reason, code }: ExecEnd, timeoutMs: number): string | undefined {
  switch (reason) {
    case "exit":
      return undefined;
    case "signal":
      return code === 128 + constants.signals.SIGXCPU
        ? "ended because it exceeded its processor time"
        : `ended by signal ${(code ?? 128) - 128}`;
    case "timeout":
      return `ended after the time limit of ${timeoutMs / 1_000} s`;
    case "oom":
      return "ended because it exceeded its memory limit";
    case "output_limit":
      return "ended because it exceeded its output limit";
    case "disk_limit":
      return "ended because the workspace exceeded its size limit, or has folders that cannot be measured";
    case "cancelled":
      return "cancelled";
    case "sandbox_lost":
      return "the sandbox was lost; its outcome is unknown";
  }
}
