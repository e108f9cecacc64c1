import type { Duplex } from "node:stream";

/** A process that was started for us, with our ends of its descriptors. */
export interface StartedProcess {
  readonly pid: number;
  readonly hasEnded: boolean;
  /** Resolves when it has ended. */
  readonly ended: Promise<void>;
  /** Our ends, by descriptor. They are sockets, so each one reads and writes. */
  readonly pipes: readonly Duplex[];
  /** Kills it, and nothing else if it has ended. */
  kill(): void;
}
