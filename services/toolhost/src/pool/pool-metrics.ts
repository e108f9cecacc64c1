import { toolQueueDepth } from "@reeve/jetstream/queue/queue-depth";
import { cached } from "@reeve/platform/async/cached";
import { registerGauge } from "@reeve/platform/telemetry/gauges";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import type { Slots } from "@reeve/calls/queue/slots";

/** How long a queue depth is reused. */
const freshMs = 2_000;

export interface PoolMetricsOptions {
  readonly pool: string;
  readonly slots: Slots;
  readonly nats: Nats;
  readonly log: Logger;
}

/** Exposes the slots of a toolhost and the depth of its queue as metrics, until it is disposed. */
export function exposePoolMetrics({ pool, slots, nats, log }: PoolMetricsOptions): Disposable {
  const gaugeStack = new DisposableStack();
  const labels = { pool };
  const reading = (read: () => number | undefined | Promise<number | undefined>) => async () => {
    const value = await read();
    return value === undefined ? undefined : { labels, value };
  };
  const ask = cached(() => toolQueueDepth(nats, pool), freshMs);
  const depth = () =>
    ask().catch((error: unknown) => {
      log.debug({ err: error }, "queue depth is unknown");
      return undefined;
    });
  const gauges = [
    [
      "reeve_toolhost_slots",
      "Number of calls that a toolhost can execute concurrently.",
      () => slots.capacity.permits,
    ],
    [
      "reeve_toolhost_busy_slots",
      "Number of calls that a toolhost executes now.",
      () => slots.busy,
    ],
    [
      "reeve_tool_queue_depth",
      "Number of calls of the pool that wait or are being executed.",
      depth,
    ],
  ] as const;
  for (const [name, help, read] of gauges) {
    gaugeStack.use(registerGauge({ name, help, labels: ["pool"], read: reading(read) }));
  }
  return gaugeStack;
}
