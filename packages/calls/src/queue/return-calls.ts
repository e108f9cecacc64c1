import { setTimeout as wait } from "node:timers/promises";
import type { Routing } from "../ports/routing.ts";
import type { ToolhostPorts } from "../ports/toolhost-ports.ts";
import { callKeyOf } from "../journal/call-key.ts";
import { forwardedCalls } from "./forwarded-calls.ts";
import { sendBack } from "./send-on.ts";
import type { Slots } from "./slots.ts";

/** How often is looked whether anything is left. */
const lookMs = 200;
/** How many calls are sent back at a time. */
const atATime = 8;
/** How long a call rests that another host has to decide on. */
const laterMs = 1_000;

/**
 * Sends the calls back to the pool that were sent on to this host, which goes away, and have not begun: those that lie there,
 * and those that come until the last one has ended that is under way. What is not sent back when `signal` aborts is adopted by
 * others.
 */
export async function returnCalls(
  ports: ToolhostPorts & { readonly routing: Routing },
  slots: Slots,
  signal: AbortSignal,
): Promise<void> {
  const { routing, host, log } = ports;
  const end = new AbortController();
  const until = AbortSignal.any([signal, end.signal]);
  const taking = async () => {
    const own = await routing.calls.open(host);
    for await (const taken of forwardedCalls(own, atATime, until)) {
      slots.begin(taken, async () => {
        try {
          const { journal } = ports;
          const { requests } = routing;
          const key = callKeyOf(taken.message);
          if (!(await sendBack(taken, key, { journal, requests }, signal))) taken.returnToQueue(laterMs);
        } catch {
          taken.returnToQueue(laterMs);
        }
      });
    }
  };
  const returning = taking().catch((error: unknown) => {
    if (!until.aborted) log.warn({ err: error }, "calls could not be sent back to their pool");
  });
  try {
    const isLeft = async () => (await routing.calls.backlog(host, until)).waiting > 0;
    while (slots.capacity.taken > 0 || (await isLeft())) {
      await wait(lookMs, undefined, { signal: until });
    }
  } catch (error) {
    if (!until.aborted) log.warn({ err: error }, "calls are left to other hosts");
  } finally {
    end.abort(new DOMException("nothing is left to send back", "AbortError"));
    await returning;
  }
}
