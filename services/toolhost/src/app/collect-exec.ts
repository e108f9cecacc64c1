import type { ExecEnd, ExecEvent, ExecStream } from "../ports/sandbox.ts";

/** Everything that a command said, and how it ended. */
export interface ExecOutcome {
  readonly end: ExecEnd;
  /** The bytes of a stream. */
  bytes(stream: ExecStream): Uint8Array;
  /** A stream as text; what is no UTF-8 is replaced. */
  text(stream: ExecStream): string;
}

/** Runs a command to its end. Its output is bounded by the command's own limit. */
export async function collectExec(events: AsyncIterable<ExecEvent>): Promise<ExecOutcome> {
  const chunks: Record<ExecStream, Uint8Array[]> = { stdout: [], stderr: [], report: [] };
  for await (const event of events) {
    if (event.kind === "out") chunks[event.stream].push(event.bytes);
    else {
      const bytes = (stream: ExecStream) => Buffer.concat(chunks[stream]);
      return { end: event.end, bytes, text: (stream) => bytes(stream).toString("utf8") };
    }
  }
  throw new Error("the sandbox gave no end");
}

/** How a command ended, for a model, when it did not simply exit. */
export function endInWords({ reason, complaint, durationMs }: ExecEnd): string | undefined {
  switch (reason) {
    case "exit":
      return undefined;
    case "timeout":
      return `ended after ${Math.round(durationMs / 1000)} s: the time limit`;
    case "output_limit":
      return "ended because it wrote more than is kept";
    case "signal":
      return "killed by a signal, for example by the memory limit";
    case "cancelled":
      return "cancelled";
    case "sandbox_lost":
      return `the sandbox could not be used: ${complaint}`;
  }
}
