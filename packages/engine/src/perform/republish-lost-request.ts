import type { ToolCallFact, ToolCallRequest } from "@reeve/contracts/tool";
import type { CallKey } from "@reeve/jetstream/log/call-journal";
import { endsCall } from "@reeve/jetstream/log/call-journal";
import { emptyTail } from "@reeve/jetstream/log/port";
import { Backoff } from "@reeve/platform/async/retry/backoff";
import type { CallQueue, RunPorts } from "../ports/run-ports.ts";

/** The delays before each check; they double up to the maximum. */
const checks = { firstDelayMs: 10_000, maxDelayMs: 120_000 };

/** What the start of a call names that was handed over without a message. */
const handedOver = 0;

/** A tool call whose request was published. */
export interface RequestedCall {
  readonly key: CallKey;
  readonly request: ToolCallRequest;
  readonly queue: CallQueue;
  /** The sequence of its request in the queue; below zero, it was handed over. Undefined: another owner published it. */
  readonly sequence: number | undefined;
}

/**
 * Publishes the request of a call again when the call has no result and its request is gone from the queue, because then no
 * host would ever start the call or take it over. Checks until the call has ended; throws the signal's reason on abort.
 */
export async function republishLostRequest(
  { key, request, queue, sequence }: RequestedCall,
  { journal, clock, logger }: Pick<RunPorts, "journal" | "clock" | "logger">,
  signal: AbortSignal,
): Promise<void> {
  let published = sequence;
  const backoff = new Backoff(checks);
  for (;;) {
    await clock.sleep(backoff.next(), signal);
    try {
      const { events } = await journal.read(key, emptyTail, signal);
      if (events.some(endsCall)) return;
      const starter = startedBy(events);
      const known = [starter, published].filter((request) => request !== undefined);
      const held = await Promise.all(known.map((request) => queue.holds(request, signal)));
      if (held.includes(true)) continue;
      const dedupeId = `${key.call}:after:${known.at(-1) ?? 0}`;
      published = await queue.publish(request, { dedupeId }, signal);
      // A call that was handed over in another process has no message. A toolhost asks that process whether it still executes the call.
      if (starter === handedOver) continue;
      logger.warn(
        { runId: key.run, callId: key.call },
        "the request of a tool call was gone from its queue; published it again",
      );
    } catch (error) {
      signal.throwIfAborted();
      logger.warn(
        { err: error, runId: key.run, callId: key.call },
        "checking the request of a tool call failed; checking again later",
      );
    }
  }
}

/** Returns the sequence of the request by which a call was started. Undefined: it has not started. */
function startedBy(facts: readonly ToolCallFact[]): number | undefined {
  const started = facts.findLast(({ fact }) => fact.case === "started")?.fact;
  return started?.case === "started" ? Number(started.value.requestSequence) : undefined;
}
