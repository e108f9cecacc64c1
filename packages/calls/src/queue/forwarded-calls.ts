import type { ForwardedToolCall } from "@reeve/contracts/toolhost";
import type { Capacity } from "@reeve/jetstream/queue/capacity";
import type { WorkQueue } from "@reeve/jetstream/queue/port";
import type { TakenCall } from "./send-on.ts";

/** The calls that were sent on to one host, as they are taken. */
export async function* forwardedCalls(
  queue: Pick<WorkQueue<ForwardedToolCall>, "take">,
  places: number | Capacity,
  signal: AbortSignal,
): AsyncIterable<TakenCall> {
  for await (const { message, ...delivery } of queue.take(places, signal)) {
    const { request, hops } = message;
    if (request === undefined) delivery.acknowledge();
    else yield { ...delivery, message: request, hops };
  }
}
