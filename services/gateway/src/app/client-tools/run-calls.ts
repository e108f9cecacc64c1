import type { RunCreated } from "@reeve/contracts/run";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { RunKey, RunLog } from "@reeve/jetstream/log/run-log";
import type { SeenRun } from "@reeve/run/commands/append-external";
import type { ClientCalls } from "@reeve/run/head/client-calls";
import { noClientCalls } from "@reeve/run/head/client-calls";
import { emptyHead, foldHead } from "@reeve/run/head/run-head";
import { foldInSlices } from "@reeve/platform/async/fold-in-slices";
import { endsRun } from "../event-selection.ts";

/** The calls of clients' tools in a run. */
export interface RunCalls {
  readonly created: RunCreated;
  readonly calls: ClientCalls;
  /** Whether the run has ended: nothing follows. */
  readonly isEnded: boolean;
  /** Returns the run as it is known now, perhaps after later changes. */
  readonly latest: () => SeenRun;
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
  let head = emptyHead;
  let calls = noClientCalls;
  let seen: SeenRun = { head, tail: emptyTail };
  for await (const { events, tail } of log.follow(key, 0, signal)) {
    head = await foldInSlices(head, events, foldHead, signal);
    const { created, clientCalls } = head;
    if (created === undefined || created.offeredTools.length === 0) return;
    seen = { head, tail };
    const isEnded = events.some(endsRun);
    const isChanged = clientCalls !== calls;
    calls = clientCalls;
    if (isChanged || isEnded) yield { created, calls, isEnded, latest: () => seen };
    if (isEnded) return;
  }
}
