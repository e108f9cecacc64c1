import type { Readable, Writable } from "node:stream";

/** A running agent, as a driver supplies it. */
export interface AgentChannel {
  readonly input: Writable;
  readonly output: Readable;
  /** Ends the sandbox with all its processes. Resolves when it is gone. */
  kill(): Promise<void>;
  /** Resolves with the error output when the sandbox is gone and its output is read. */
  readonly ended: Promise<string>;
  /** Returns how many processes the kernel has killed because memory was full. Absent if the driver cannot count them. */
  memoryKills?(): number;
}
