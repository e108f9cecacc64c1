import type { RunCreated } from "@reeve/contracts/run";
import type { RunKey, RunLog } from "@reeve/jetstream/log/run-log";
import type { ClientCalls } from "@reeve/run/head/client-calls";
import { clientCallsAfter, noClientCalls } from "@reeve/run/head/client-calls";
import { endsRun } from "../event-selection.ts";

/** The calls of clients' tools in a run. */
export interface RunCalls {
  readonly created: RunCreated;
  readonly calls: ClientCalls;
  /** Whether the run has ended: nothing follows. */
  readonly isEnded: boolean;
}

/**
 * Yields the calls of clients' tools in a run whenever they change, until the run has ended. Waits for a run that has no log yet. Ends
 * at once for a run without such tools.
 */
export async function* runCalls(
  log: Pick<RunLog, "follow">,
  key: RunKey,
  signal: AbortSignal,
): AsyncIterable<RunCalls> {
  let created: RunCreated | undefined;
  let calls = noClientCalls;
  for await (const { events } of log.follow(key, 0, signal)) {
    const before = calls;
    for (const each of events) {
      if (each.event.case === "runCreated") created = each.event.value;
      calls = clientCallsAfter(calls, each);
    }
    if (created === undefined || created.offeredTools.length === 0) return;
    const isEnded = events.some(endsRun);
    if (calls !== before || isEnded) yield { created, calls, isEnded };
    if (isEnded) return;
  }
}
