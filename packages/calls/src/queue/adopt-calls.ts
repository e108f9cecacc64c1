import type { Wakeup } from "@reeve/platform/async/coordination/wakeup";
import { callKeyOf } from "../journal/call-key.ts";
import type { CallPorts } from "../ports/call-ports.ts";
import type { Routing } from "../ports/routing.ts";
import type { CallDelivery } from "../ports/call-delivery.ts";
import { returnCall } from "./forward-call.ts";
import { forwardedCalls } from "./forwarded-calls.ts";
import type { Slots } from "./slots.ts";
import type { WorkSignals } from "./work-calls.ts";
import { settleCall } from "./work-calls.ts";

/** Interval between two searches for hosts that are gone, without a notification. */
const searchMs = 10_000;
/** The same after a search that left calls behind. Also the delay before redelivery of a call that could not be returned. */
const retryMs = 1_000;
/** How long the calls of one host are adopted before the next check that the host is still gone. */
const adoptMs = 2_000;

/** A host that adopts calls. */
export interface Adopter {
  readonly ports: CallPorts & { readonly routing: Routing };
  readonly slots: Slots;
  /** Notifies that a host may be gone. */
  readonly hostLeft: Wakeup;
}

/**
 * Adopts the calls that were forwarded to hosts of the pool that are gone, until no more may be taken. Several adopters share
 * them. The second search in a row that finds such a queue empty deletes it.
 */
export async function adoptCalls(adopter: Adopter, signals: WorkSignals): Promise<void> {
  const { routing, host: self } = adopter.ports;
  const { calls, peers } = routing;
  const { taking } = signals;
  let empty: ReadonlySet<string> = new Set();
  for (;;) {
    const found = new Set<string>();
    let isMore = false;
    for (const host of await calls.hosts(taking)) {
      if (host === self || !(await peers.isGone(host, taking))) continue;
      const isLeft = await adoptFrom(host, adopter, signals);
      if (isLeft) isMore = true;
      else if (empty.has(host)) await calls.remove(host, taking);
      else found.add(host);
    }
    empty = found;
    await adopter.hostLeft.waitFor(isMore ? retryMs : searchMs, taking);
  }
}

/** Takes calls from the queue of a host that is gone, for a while. Returns whether any are left. */
async function adoptFrom(
  host: string,
  { ports, slots }: Adopter,
  { taking, running }: WorkSignals,
): Promise<boolean> {
  const { routing, log } = ports;
  const { calls } = routing;
  // Opened first: calls without a queue are counted only once the queue exists.
  const queue = await calls.open(host, taking);
  if (!(await isLeft(host, routing, taking))) return false;
  log.info({ gone: host }, "adopting the calls of a host that is gone");
  const enough = AbortSignal.timeout(adoptMs);
  try {
    const until = AbortSignal.any([taking, enough]);
    await adoptEach(forwardedCalls(queue, slots.capacity, until), { ports, slots }, running);
  } catch (error) {
    if (!enough.aborted || taking.aborted) throw error;
  }
  return await isLeft(host, routing, taking);
}

async function isLeft(host: string, { calls }: Routing, signal: AbortSignal): Promise<boolean> {
  const { waiting, delivered } = await calls.backlog(host, signal);
  return waiting + delivered > 0;
}

/** Settles the calls of a host that is gone, as they are taken. */
export async function adoptEach(
  calls: AsyncIterable<CallDelivery>,
  { ports, slots }: Pick<Adopter, "ports" | "slots">,
  running: AbortSignal,
): Promise<void> {
  const { routing, ...own } = ports;
  for await (const delivery of calls) {
    slots.begin(delivery, (held) => adopt(held, own, routing, running));
  }
}

/**
 * Settles one call of a host that is gone. A call that has not started returns to the pool, where it gets a holder. The journal
 * decides about a call that has started, because this is a redelivery of the message that started it.
 */
async function adopt(
  delivery: CallDelivery,
  own: CallPorts,
  { requests }: Routing,
  running: AbortSignal,
): Promise<void> {
  const key = callKeyOf(delivery.message);
  try {
    if (await returnCall(delivery, key, { journal: own.journal, requests }, running)) return;
  } catch (error) {
    if (!running.aborted) {
      own.log.warn(
        { err: error, callId: key.call },
        "call was not returned to its pool; trying again",
      );
    }
    return delivery.returnToQueue(retryMs);
  }
  await settleCall(delivery, own, running);
}
