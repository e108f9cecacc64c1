import { extendIntervalMs } from "@reeve/jetstream/queue/port";

/** The longest time without a heartbeat after which Temporal asks another worker. */
const maxSilenceMs = 5_000;

/** How a worker shows Temporal that it has a run. */
export interface Heartbeats {
  /** The time without a heartbeat after which Temporal asks another worker. */
  readonly timeoutMs: number;
  /** The interval between two heartbeats. */
  readonly intervalMs: number;
  /** How much longer a silent owner keeps a run if it is connected to NATS: it may only be slow, or cut off from Temporal. */
  readonly graceMs: number;
}

/** Returns the heartbeats of a deployment whose workers may be silent for `ackWaitMs`. */
export function heartbeatsFor(ackWaitMs: number): Heartbeats {
  const timeoutMs = Math.min(ackWaitMs, maxSilenceMs);
  return { timeoutMs, intervalMs: extendIntervalMs(timeoutMs), graceMs: ackWaitMs - timeoutMs };
}
