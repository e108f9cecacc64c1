import type { ForwardedToolCall } from "@reeve/contracts/toolhost";
import type { WorkQueue } from "@reeve/jetstream/queue/port";
import type { Semaphore } from "@reeve/platform/async/coordination/semaphore";
import type { CallDelivery } from "../ports/call-delivery.ts";

/** Yields the calls that were forwarded to one host, as they are taken from its queue. */
export async function* forwardedCalls(
  queue: Pick<WorkQueue<ForwardedToolCall>, "take">,
  permits: number | Semaphore,
  signal: AbortSignal,
): AsyncIterable<CallDelivery> {
  for await (const { message, ...delivery } of queue.take(permits, signal)) {
    const { request, hops } = message;
    if (request === undefined) delivery.acknowledge();
    else yield { ...delivery, message: request, hops };
  }
}
