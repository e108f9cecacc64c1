import type { ForwardedToolCall } from "@reeve/contracts/toolhost";
import type { Capacity } from "@reeve/jetstream/queue/capacity";
import type { WorkQueue } from "@reeve/jetstream/queue/port";
import type { CallDelivery } from "./forward-call.ts";

/** Yields the calls that were forwarded to one host, as they are taken from its queue. */
export async function* forwardedCalls(
  queue: Pick<WorkQueue<ForwardedToolCall>, "take">,
  places: number | Capacity,
  signal: AbortSignal,
): AsyncIterable<CallDelivery> {
  for await (const { message, ...delivery } of queue.take(places, signal)) {
    const { request, hops } = message;
    if (request === undefined) delivery.acknowledge();
    else yield { ...delivery, message: request, hops };
  }
}
