import type { ToolCallFact, ToolCallRequest } from "@reeve/contracts/tool";
import type { CallKey } from "@reeve/jetstream/log/call-journal";
import { endsCall } from "@reeve/jetstream/log/call-journal";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { WorkQueue } from "@reeve/jetstream/queue/port";
import type { RunPorts } from "../ports/run-ports.ts";

/** How long a call may be quiet before it is looked at whether its request is still there; doubled with each look. */
const firstLookMs = 10_000;
const longestMs = 120_000;

/** A call that was asked for. */
export interface RequestedCall {
  readonly key: CallKey;
  readonly request: ToolCallRequest;
  readonly queue: Pick<WorkQueue<ToolCallRequest>, "publish" | "holds">;
  /** Place of its request in the queue; undefined: somebody else asked. */
  readonly sequence: number | undefined;
}

/**
 * Asks again for a call without a result whose request is gone from the queue: no host would ever take it, or take it over.
 * Looks until `signal` aborts or the call has ended.
 */
export async function republishLostRequest(
  { key, request, queue, sequence }: RequestedCall,
  { journal, clock, logger }: RunPorts,
  signal: AbortSignal,
): Promise<void> {
  let asked = sequence;
  for (let delayMs = firstLookMs; ; delayMs = Math.min(delayMs * 2, longestMs)) {
    await clock.sleep(delayMs, signal);
    try {
      const { events } = await journal.read(key, emptyTail, signal);
      if (events.some(endsCall)) return;
      const places = [startedBy(events), asked].filter((place) => place !== undefined);
      const held = await Promise.all(places.map((place) => queue.holds(place, signal)));
      if (held.includes(true)) continue;
      const dedupeId = `${key.call}:after:${places.at(-1) ?? 0}`;
      asked = await queue.publish(request, { dedupeId }, signal);
      logger.warn({ runId: key.run, callId: key.call }, "request of a call was gone; asked again");
    } catch (error) {
      signal.throwIfAborted();
      logger.warn({ err: error, callId: key.call }, "call could not be looked after");
    }
  }
}

function startedBy(facts: readonly ToolCallFact[]): number | undefined {
  const started = facts.findLast(({ fact }) => fact.case === "started")?.fact;
  return started?.case === "started" ? Number(started.value.requestSequence) : undefined;
}
