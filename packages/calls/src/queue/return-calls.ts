import { sleep } from "@reeve/platform/async/sleep";
import { callKeyOf } from "../journal/call-key.ts";
import type { CallPorts } from "../ports/call-ports.ts";
import type { Routing } from "../ports/routing.ts";
import { returnCall } from "./forward-call.ts";
import { forwardedCalls } from "./forwarded-calls.ts";
import type { Slots } from "./slots.ts";

/** Interval at which the queue is checked for calls that are left. */
const checkMs = 200;
/** How many calls are returned at a time. */
const maxConcurrent = 8;
/** Delay before redelivery of a call that another host has to decide on. */
const retryMs = 1_000;

/**
 * When this host ends, returns to the pool the calls that were forwarded to it and have not started: those in its queue, and
 * those that arrive until its last running call has ended. Other hosts adopt calls that are left when `signal` aborts.
 */
export async function returnCalls(
  ports: CallPorts & { readonly routing: Routing },
  slots: Slots,
  signal: AbortSignal,
): Promise<void> {
  const { routing, host, log } = ports;
  const end = new AbortController();
  const until = AbortSignal.any([signal, end.signal]);
  const taking = async () => {
    const own = await routing.calls.open(host, until);
    for await (const delivery of forwardedCalls(own, maxConcurrent, until)) {
      slots.begin(delivery, async (held) => {
        const key = callKeyOf(held.message);
        const to = { journal: ports.journal, requests: routing.requests };
        const isReturned = await returnCall(held, key, to, signal).catch(() => false);
        if (!isReturned) held.returnToQueue(retryMs);
      });
    }
  };
  const returning = taking().catch((error: unknown) => {
    if (!until.aborted) log.warn({ err: error }, "calls were not returned to the pool");
  });
  try {
    const isLeft = async () => (await routing.calls.backlog(host, until)).waiting > 0;
    while (slots.busy > 0 || (await isLeft())) await sleep(checkMs, until);
  } catch (error) {
    if (!until.aborted) log.warn({ err: error }, "calls are left for other hosts to adopt");
  } finally {
    end.abort(new DOMException("no call is left to return", "AbortError"));
    await returning;
  }
}
