import type { Delivery } from "@reeve/jetstream/queue/port";

/** Says every `everyMs` that the holder of `delivery` is alive, however long its work takes, until it is stopped. */
export function heartbeat(
  delivery: Pick<Delivery<unknown>, "extend">,
  everyMs: number,
): Disposable & { stop(): void } {
  const timer = setInterval(() => delivery.extend(), everyMs);
  const stop = () => clearInterval(timer);
  return { stop, [Symbol.dispose]: stop };
}
