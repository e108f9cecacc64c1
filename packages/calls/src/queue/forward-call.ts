import { create } from "@bufbuild/protobuf";
import { ToolCallRequestSchema } from "@reeve/contracts/tool";
import { ForwardedToolCallSchema } from "@reeve/contracts/toolhost";
import type { CallKey } from "@reeve/jetstream/log/call-journal";
import { emptyTail } from "@reeve/jetstream/log/port";
import { publishUntilHeld } from "@reeve/jetstream/queue/publish-until-held";
import { maxWaits } from "../journal/claim-call.ts";
import type { CallDelivery } from "../ports/call-delivery.ts";
import type { CallPorts } from "../ports/call-ports.ts";
import type { Routing } from "../ports/routing.ts";
import { routeCall } from "./route-call.ts";

/** Delay before redelivery of a call whose host is not known yet. */
const retryMs = 500;
/** How long a forwarded call waits for its tool before it returns to the pool. Bounds how fast it can move in a circle. */
const waitMs = 1_000;

/**
 * Forwards a call to the host that should execute it. Returns whether the delivery is settled. A call that has started is never
 * forwarded, because its journal and the delivery of the message that started it decide about it. The call is in the queue of
 * the other host before it is acknowledged here: a host that dies in between leaves it in one queue or in both, and its journal
 * accepts it once.
 */
export async function forwardCall(
  delivery: CallDelivery,
  key: CallKey,
  { routing, ...ports }: CallPorts,
  signal: AbortSignal,
): Promise<boolean> {
  if (routing === undefined) return false;
  const { message, attempt, hops = 0 } = delivery;
  const route = await routeCall(message, hops, { ...ports, routing }, signal);
  if (route.kind === "back")
    return await returnWaiting(delivery, key, { ...ports, routing }, signal);
  if (route.kind === "here" || (await hasStarted(key, ports, signal))) return false;
  if (route.kind === "later") {
    delivery.returnToQueue(retryMs);
    return true;
  }
  const forwarded = create(ForwardedToolCallSchema, {
    request: create(ToolCallRequestSchema, { ...message, waits: message.waits + attempt - 1 }),
    from: ports.host,
    hops: hops + 1,
  });
  // A call that came back and is forwarded to the same host again is another message.
  const dedupeId = `${key.call}:to:${route.host}${message.waits > 0 ? `:${message.waits}` : ""}`;
  const queue = routing.calls.to(route.host);
  const { kind } = await publishUntilHeld(queue, forwarded, { dedupeId }, signal);
  if (kind === "held") delivery.acknowledge();
  else delivery.returnToQueue(retryMs);
  return true;
}

/** Returns a forwarded call to its pool, after a delay. False: it has started or waited for too long, and is unchanged. */
async function returnWaiting(
  delivery: CallDelivery,
  key: CallKey,
  { journal, routing }: Pick<CallPorts, "journal"> & { readonly routing: Routing },
  signal: AbortSignal,
): Promise<boolean> {
  const { message, attempt } = delivery;
  if (attempt + message.waits > maxWaits) return false;
  if (attempt > 1) {
    const waited = create(ToolCallRequestSchema, { ...message, waits: message.waits + 1 });
    const { requests } = routing;
    return await returnCall({ ...delivery, message: waited }, key, { journal, requests }, signal);
  }
  if (await hasStarted(key, { journal }, signal)) return false;
  delivery.returnToQueue(waitMs);
  return true;
}

/** Returns a call to its pool. False: it has started, and the delivery is unchanged. */
export async function returnCall(
  delivery: CallDelivery,
  key: CallKey,
  { journal, requests }: Pick<CallPorts, "journal"> & Pick<Routing, "requests">,
  signal: AbortSignal,
): Promise<boolean> {
  if (await hasStarted(key, { journal }, signal)) return false;
  // Named after the message, so that a host that repeats this publishes the same message.
  const dedupeId = `${key.call}:back:${delivery.sequence}`;
  const { kind } = await publishUntilHeld(requests, delivery.message, { dedupeId }, signal);
  if (kind === "held") delivery.acknowledge();
  else delivery.returnToQueue(retryMs);
  return true;
}

async function hasStarted(
  key: CallKey,
  { journal }: Pick<CallPorts, "journal">,
  signal: AbortSignal,
): Promise<boolean> {
  const { events } = await journal.read(key, emptyTail, signal);
  return events.length > 0;
}
