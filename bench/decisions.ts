import { ApprovalState } from "@reeve/contracts/approval";
import type { Approval } from "@reeve/contracts/approval";
import type { RunEvent } from "@reeve/contracts/run";
import { EventFamily } from "@reeve/contracts/run";
import type { Connection } from "@reeve/client";

/** Every family of events, records included. */
const families = Object.values(EventFamily).filter((family) => family !== EventFamily.UNSPECIFIED);
/** Selects every event, records included. */
export const everything = { case: "families", value: { families } } as const;

/** The durations of one decision, in milliseconds. */
export interface Decided {
  /** Until the client received the acknowledgement. */
  readonly acknowledgedMs: number;
  /** Until a watching client received the run's next claim. */
  readonly resumedMs: number;
}

/** Approves a pending approval and watches the run until a worker claims it. */
export async function decide(
  reeve: Connection,
  { approvalId, runId }: Approval,
  signal: AbortSignal,
): Promise<Decided> {
  const { run } = await reeve.runs.getRun({ runId }, { signal });
  const afterSequence = (run?.lastSequence ?? 0) - 1;
  const end = new AbortController();
  const until = AbortSignal.any([signal, end.signal]);
  const watched = reeve.runs.watchRun(
    { runId, afterSequence, selection: everything },
    { signal: until },
  );
  let startedAt = 0;
  let acknowledged: Promise<number> | undefined;
  for await (const { events } of watched) {
    // The park's events arrive first; after them the stream is live.
    if (acknowledged === undefined) {
      startedAt = performance.now();
      acknowledged = reeve.approvals
        .decideApproval({ approvalId, approved: true }, { signal })
        .then(() => performance.now() - startedAt);
    }
    if (!events.some(isClaim)) continue;
    const resumedMs = performance.now() - startedAt;
    const acknowledgedMs = await acknowledged;
    end.abort();
    return { acknowledgedMs, resumedMs };
  }
  throw new Error(`the stream of ${runId} ended before it was resumed`);
}

function isClaim({ event }: RunEvent): boolean {
  return event.case === "runClaimed";
}

/** Returns pending approvals, spread over the whole list. */
export async function pending(
  reeve: Connection,
  count: number,
  signal: AbortSignal,
): Promise<readonly Approval[]> {
  const found: Approval[] = [];
  let pageToken = "";
  do {
    const page = await reeve.approvals.listApprovals({ pageSize: 1_000, pageToken }, { signal });
    found.push(...page.approvals.filter(({ state }) => state === ApprovalState.PENDING));
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  const step = Math.max(1, Math.floor(found.length / count));
  return found.filter((_, index) => index % step === 0).slice(0, count);
}
