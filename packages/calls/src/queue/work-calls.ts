import type { ToolCallRequest } from "@reeve/contracts/tool";
import type { WorkQueue } from "@reeve/jetstream/queue/port";
import type { ToolhostPorts } from "../ports/toolhost-ports.ts";
import { executeCall } from "../execute/execute-call.ts";
import { forwardedCalls } from "./forwarded-calls.ts";
import { returnCalls } from "./return-calls.ts";
import type { TakenCall } from "./send-on.ts";
import { Slots } from "./slots.ts";

export interface WorkSignals {
  /** Aborts when no more calls are to be taken. */
  readonly taking: AbortSignal;
  /** Aborts when running calls are to be ended and given back. */
  readonly running: AbortSignal;
}

/**
 * Executes calls from the queue of the pool, and those that other hosts have sent on to this one, as many at a time as there
 * are slots, until it may take no more and none is running. What was sent here and has not begun by then goes back to the
 * pool.
 */
export async function workCalls(
  queue: Pick<WorkQueue<ToolCallRequest>, "take">,
  ports: ToolhostPorts,
  places: number | Slots,
  { taking, running }: WorkSignals,
): Promise<void> {
  const slots = typeof places === "number" ? new Slots(places) : places;
  const broken = new AbortController();
  const until = AbortSignal.any([taking, broken.signal]);
  const work = async (calls: AsyncIterable<TakenCall>) => {
    for await (const taken of calls) {
      slots.begin(taken, () => executeCall(taken, ports, running));
    }
  };
  const { routing, host } = ports;
  try {
    const own = await routing?.calls.open(host);
    await Promise.all([
      work(queue.take(slots.capacity, until)),
      own && work(forwardedCalls(own, slots.capacity, until)),
    ]);
  } catch (error) {
    if (!taking.aborted) throw error;
    if (routing !== undefined) await returnCalls({ ...ports, routing }, slots, running);
  } finally {
    broken.abort(new DOMException("calls are not taken any more", "AbortError"));
    await slots.settled();
  }
}
