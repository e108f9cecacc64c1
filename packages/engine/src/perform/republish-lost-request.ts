import type { ToolCallFact, ToolCallRequest } from "@reeve/contracts/tool";
import type { CallKey } from "@reeve/jetstream/log/call-journal";
import { endsCall } from "@reeve/jetstream/log/call-journal";
import { emptyTail } from "@reeve/jetstream/log/port";
import { Backoff } from "@reeve/platform/async/retry/backoff";
import type { CallQueue, RunPorts } from "../ports/run-ports.ts";

/** The delays before each check; they double up to the maximum. */
const checks = { firstDelayMs: 10_000, maxDelayMs: 120_000 };

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
  { journal, clock, logger }: RunPorts,
  signal: AbortSignal,
): Promise<void> {
  let published = sequence;
  const backoff = new Backoff(checks);
  for (;;) {
    await clock.sleep(backoff.next(), signal);
    try {
      const { events } = await journal.read(key, emptyTail, signal);
      if (events.some(endsCall)) return;
      const known = [startedBy(events), published].filter((request) => request !== undefined);
      const held = await Promise.all(known.map((request) => queue.holds(request, signal)));
      if (held.includes(true)) continue;
      const dedupeId = `${key.call}:after:${known.at(-1) ?? 0}`;
      published = await queue.publish(request, { dedupeId }, signal);
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

function startedBy(facts: readonly ToolCallFact[]): number | undefined {
  const started = facts.findLast(({ fact }) => fact.case === "started")?.fact;
  return started?.case === "started" ? Number(started.value.requestSequence) : undefined;
}
