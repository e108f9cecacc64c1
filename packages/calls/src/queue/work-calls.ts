import { isToken } from "@reeve/contracts/channel";
import type { ToolCallRequest } from "@reeve/contracts/tool";
import { listenTo } from "@reeve/jetstream/log/listen-to";
import type { WorkQueue } from "@reeve/jetstream/queue/port";
import { every } from "@reeve/platform/async/every";
import { executeCall } from "../execute/execute-call.ts";
import { callKeyOf } from "../journal/call-key.ts";
import type { CallClaim } from "../journal/claim-call.ts";
import { claimCall } from "../journal/claim-call.ts";
import type { CallPorts } from "../ports/call-ports.ts";
import type { CallDelivery } from "../ports/call-delivery.ts";
import { forwardCall } from "./forward-call.ts";
import { forwardedCalls } from "./forwarded-calls.ts";
import { returnCalls } from "./return-calls.ts";
import { Slots } from "./slots.ts";

const retryDelayMs = 1_000;

export interface WorkSignals {
  /** Aborts when no more calls may be taken. */
  readonly taking: AbortSignal;
  /** Aborts when running calls must end and return to the queue. */
  readonly running: AbortSignal;
}

/**
 * Executes calls from the queue of the pool, those that other hosts have forwarded to this one, and those that a runtime in this
 * process hands over, as many at a time as there are slots. Ends when no more may be taken and none is running. Forwarded calls that have not started by then return to the
 * pool.
 */
export async function workCalls(
  queue: Pick<WorkQueue<ToolCallRequest>, "take">,
  ports: CallPorts,
  places: number | Slots,
  { taking, running }: WorkSignals,
): Promise<void> {
  const slots = typeof places === "number" ? new Slots(places) : places;
  const broken = new AbortController();
  const until = AbortSignal.any([taking, broken.signal]);
  const { local, routing, host } = ports;
  const work = async (calls: AsyncIterable<CallDelivery>) => {
    for await (const delivery of calls) {
      local?.taken(delivery.sequence);
      slots.begin(delivery, (held) => settleCall(held, ports, running));
    }
  };
  try {
    const own = await routing?.calls.open(host, until);
    await Promise.all([
      work(queue.take(slots.capacity, until)),
      local && work(local.take(slots.capacity, until)),
      own && work(forwardedCalls(own, slots.capacity, until)),
    ]);
  } catch (error) {
    if (!taking.aborted) throw error;
    if (routing !== undefined) await returnCalls({ ...ports, routing }, slots, running);
  } finally {
    broken.abort(new DOMException("calls are no longer taken", "AbortError"));
    await slots.settled();
    await local?.published();
  }
}

/**
 * Settles one delivery: forwards the call to the host that it belongs to, or executes it until its journal has its result or its
 * cancellation. When `signal` aborts, ends the call and returns the delivery to the queue, for another host to decide.
 */
export async function settleCall(
  delivery: CallDelivery,
  ports: CallPorts,
  signal: AbortSignal,
): Promise<void> {
  const { message: request } = delivery;
  const { call } = request;
  const key = callKeyOf(request);
  if (call === undefined || !Object.values(key).every(isToken)) {
    // No version can have written it, and every toolhost would return it.
    ports.log.error({ key }, "a request names no call; removing it from the queue");
    return delivery.acknowledge();
  }
  using _ = every(ports.heartbeatMs, () => delivery.extend());
  try {
    if (await forwardCall(delivery, key, ports, signal)) return;
    // Since before the claim, so that a cancellation right after it is not missed.
    using listener = listenTo(ports.journal, key);
    const claim = await claimCall(delivery, key, call, ports, signal);
    if (claim.kind !== "claimed") return settleUnclaimed(delivery, claim.kind);
    const claimed = { request, call, key, tail: claim.tail, journal: listener };
    if (await executeCall(claimed, ports, signal)) delivery.acknowledge();
    else delivery.abandon();
  } catch (error) {
    if (!signal.aborted) {
      ports.log.error(
        { err: error, callId: key.call },
        "call was not settled; it is delivered again",
      );
    }
    delivery.returnToQueue(signal.aborted ? 0 : retryDelayMs);
  }
}

function settleUnclaimed(
  delivery: CallDelivery,
  claim: Exclude<CallClaim["kind"], "claimed">,
): void {
  switch (claim) {
    case "settled":
      return delivery.acknowledge();
    case "elsewhere":
      return delivery.abandon();
    case "later":
      return delivery.returnToQueue(retryDelayMs);
  }
}
