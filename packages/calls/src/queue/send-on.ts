import { create } from "@bufbuild/protobuf";
import type { ToolCallRequest } from "@reeve/contracts/tool";
import { ForwardedToolCallSchema } from "@reeve/contracts/toolhost";
import type { CallKey } from "@reeve/jetstream/log/call-journal";
import { emptyTail } from "@reeve/jetstream/log/port";
import { publishUntilHeld } from "@reeve/jetstream/queue/publish-until-held";
import type { Delivery } from "@reeve/jetstream/queue/port";
import type { Routing } from "../ports/routing.ts";
import type { ToolhostPorts } from "../ports/toolhost-ports.ts";
import { routeCall } from "./route-call.ts";

/** How long a call is left alone of which it cannot be told yet where it belongs. */
const laterMs = 500;

/** A request in the hands of this host. */
export interface TakenCall extends Delivery<ToolCallRequest> {
  /** How often it was sent on. Absent: it came from the pool. */
  readonly hops?: number;
}

/**
 * Sends a call on to the host that is to make it. True: the delivery is settled. A call that somebody has begun is never sent
 * on, because its journal and the delivery of that very message decide what becomes of it. The call lies with the other
 * host before it is acknowledged here: whoever dies on the way leaves it once or twice in the queue, and its journal takes it
 * once.
 */
export async function sendOn(
  taken: TakenCall,
  key: CallKey,
  { routing, ...ports }: ToolhostPorts,
  signal: AbortSignal,
): Promise<boolean> {
  if (routing === undefined) return false;
  const { hops = 0 } = taken;
  const route = await routeCall(taken.message, hops, { ...ports, routing }, signal);
  if (route.kind === "here" || (await hasBegun(key, ports, signal))) return false;
  if (route.kind === "later") {
    taken.returnToQueue(laterMs);
    return true;
  }
  const forwarded = create(ForwardedToolCallSchema, {
    request: taken.message,
    from: ports.host,
    hops: hops + 1,
  });
  const dedupeId = `${key.call}:to:${route.host}`;
  const queue = routing.calls.to(route.host);
  const place = await publishUntilHeld(queue, forwarded, { dedupeId }, signal);
  if (place === undefined) taken.returnToQueue(laterMs);
  else taken.acknowledge();
  return true;
}

/** Sends a call that nobody has begun back to its pool. False: it has begun, and the delivery is as it was. */
export async function sendBack(
  taken: TakenCall,
  key: CallKey,
  { journal, requests }: Pick<ToolhostPorts, "journal"> & Pick<Routing, "requests">,
  signal: AbortSignal,
): Promise<boolean> {
  if (await hasBegun(key, { journal }, signal)) return false;
  // Named after the message, so that whoever does the same publishes the same.
  const dedupeId = `${key.call}:back:${taken.sequence}`;
  const place = await publishUntilHeld(requests, taken.message, { dedupeId }, signal);
  if (place === undefined) taken.returnToQueue(laterMs);
  else taken.acknowledge();
  return true;
}

async function hasBegun(
  key: CallKey,
  { journal }: Pick<ToolhostPorts, "journal">,
  signal: AbortSignal,
): Promise<boolean> {
  const { events } = await journal.read(key, emptyTail, signal);
  return events.length > 0;
}
