import { toolQueueDepth } from "@reeve/jetstream/queue/queue-depth";
import { registerGauge } from "@reeve/platform/telemetry/gauges";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import type { Slots } from "@reeve/calls/queue/slots";

/** How long the depth of a queue is not asked for again. */
const freshMs = 2_000;

export interface PoolMetricsOptions {
  readonly pool: string;
  readonly slots: Slots;
  readonly nats: Nats;
  readonly log: Logger;
}

/** What a toolhost tells of its slots and of the queue of its pool, among the metrics of its process. */
export function exposePoolMetrics({ pool, slots, nats, log }: PoolMetricsOptions): Disposable {
  const shown = new DisposableStack();
  const labels = { pool };
  const reading = (read: () => number | undefined | Promise<number | undefined>) => async () => {
    const value = await read();
    return value === undefined ? undefined : { labels, value };
  };
  const ask = cached(() => toolQueueDepth(nats, pool), freshMs);
  const depth = () =>
    ask().catch((error: unknown) => {
      log.debug({ err: error }, "depth of the queue is not known");
      return undefined;
    });
  const gauges = [
    [
      "reeve_toolhost_slots",
      "Calls that a toolhost executes at a time.",
      () => slots.capacity.permits,
    ],
    ["reeve_toolhost_busy_slots", "Calls that it executes now.", () => slots.busy],
    ["reeve_tool_queue_depth", "Calls of the pool that wait or are in somebody's hands.", depth],
  ] as const;
  for (const [name, help, read] of gauges) {
    shown.use(registerGauge({ name, help, labels: ["pool"], read: reading(read) }));
  }
  return shown;
}

/** Asks at most once in `maxMs`; who asks meanwhile gets the same answer. */
function cached<Value>(ask: () => Promise<Value>, maxMs: number): () => Promise<Value> {
  let asked: { readonly answer: Promise<Value>; readonly atMs: number } | undefined;
  return () => {
    const now = performance.now();
    if (asked === undefined || now - asked.atMs > maxMs) asked = { answer: ask(), atMs: now };
    return asked.answer;
  };
}
