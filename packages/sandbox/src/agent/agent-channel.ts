import type { Readable, Writable } from "node:stream";

/** A running agent, as whoever started it sees it. */
export interface AgentChannel {
  readonly input: Writable;
  readonly output: Readable;
  /** Ends the sandbox with everything in it; resolves when it is gone. */
  kill(): Promise<void>;
  /** Resolves when it is gone and its output is read: what it complained of. */
  readonly ended: Promise<string>;
  /** How many processes the kernel has ended because memory was full. Absent: nobody counts. */
  memoryKills?(): number;
}
