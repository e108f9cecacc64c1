import type { Approval } from "@reeve/contracts/approval";
import { ApprovalSchema, ApprovalState } from "@reeve/contracts/approval";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { RunFeedBatch, RunFeed } from "@reeve/jetstream/feed/run-feed";
import type { RowsOfLogs } from "@reeve/jetstream/projection/drop-orphans";
import { dropOrphan } from "@reeve/jetstream/projection/drop-orphans";
import type { LogEnd } from "@reeve/jetstream/projection/port";
import { foldRun } from "@reeve/run/commands/fold-run";
import { approvalsOf } from "@reeve/run/head/run-head";
import { isTerminal } from "@reeve/run/head/run-status";
import type { RunKey, RunLog, RunTailReader } from "@reeve/jetstream/log/run-log";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { Row, Table } from "@reeve/jetstream/table/port";
import { bucketOf } from "@reeve/contracts/channel";
import { approvalKinds } from "../app/approval-kinds.ts";
import { leavesApprovals, withdrawn, withdrawnApprovals } from "../app/withdrawn-approvals.ts";

const maxAttempts = 20;
const { key: approvalKey, tokensOf } = bucketOf(ApprovalSchema);

export interface InboxPorts {
  readonly inbox: Table<Approval>;
  readonly log: Pick<RunLog, "read">;
  readonly logEnds: RunTailReader;
}

/** Returns the inbox as rows that follow from the logs of runs. */
export function approvalsOfLogs({ inbox, logEnds }: InboxPorts): RowsOfLogs<RunKey, Approval> {
  return { rows: inbox, logs: logEnds, logOf: runOfRow };
}

function runOfRow({ key, record }: Row<Approval>): RunKey | undefined {
  const { tenant } = tokensOf(key) ?? {};
  return tenant === undefined ? undefined : { tenant, run: record.runId };
}

/**
 * Maintains the inbox: a projection of the approval facts in the logs of all runs, which can be discarded and rebuilt. An
 * approval only ever gains votes and moves from pending to closed, in whatever order and however often the batches of its run arrive; the
 * end of its run withdraws it. So several processes may project the same batches.
 */
export async function projectInbox(
  feed: RunFeed,
  ports: InboxPorts,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  for await (const batch of feed.consume("approvals-inbox", approvalKinds, signal)) {
    try {
      await project(ports, batch, signal);
      batch.acknowledge();
    } catch (error) {
      if (signal.aborted) return;
      // Not acknowledged: the feed redelivers the batch.
      log.warn(
        { err: error, runId: batch.key.run },
        "batch was not projected to the inbox; retrying",
      );
    }
  }
}

async function project(
  ports: InboxPorts,
  { key, events }: RunFeedBatch,
  signal: AbortSignal,
): Promise<void> {
  for (const { event } of events) {
    if (event.case === "approval" && event.value.approval !== undefined) {
      const filing = { tenant: key.tenant, dropsOrphan: true };
      await file(ports, filing, event.value.approval, signal);
    } else if (event.case === "status" && leavesApprovals(event.value.status)) {
      await withdraw(ports, { key, events }, signal);
    }
  }
}

interface Filing {
  readonly tenant: string;
  /** Whether to drop a new row again if the run was deleted meanwhile. */
  readonly dropsOrphan: boolean;
}

/** Writes an approval into the inbox, unless the inbox reflects it. Returns whether it was written. */
async function file(
  ports: InboxPorts,
  { tenant, dropsOrphan }: Filing,
  approval: Approval,
  signal: AbortSignal,
): Promise<boolean> {
  const { inbox } = ports;
  const key = approvalKey({ tenant, approval: approval.approvalId });
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const row = await inbox.get(key, signal);
    if (row !== undefined && !mayFollow(approval.state, row.record.state)) return false;
    const isOlder = row !== undefined && approval.revision <= row.record.revision;
    if (isOlder && approval.state === ApprovalState.PENDING) return false;
    const written =
      row === undefined
        ? await inbox.create(key, approval, signal)
        : await inbox.update(key, approval, row.revision, signal);
    if (written === undefined) continue;
    if (row !== undefined || !dropsOrphan) return true;
    return !(await dropOrphan(approvalsOfLogs(ports), written, signal));
  }
  throw new Error(`approval ${approval.approvalId} lost ${maxAttempts} writes to other writers`);
}

/** Whether an approval with the state `next` may replace one with the state `current`. */
function mayFollow(next: ApprovalState, current: ApprovalState): boolean {
  if (current === ApprovalState.PENDING) return true;
  // The files of a call may change after the decision.
  return next === ApprovalState.SUPERSEDED && current !== ApprovalState.SUPERSEDED;
}

/** Withdraws the approvals that the log leaves pending, including those that are not in the inbox yet. */
async function withdraw(
  ports: InboxPorts,
  batch: Pick<RunFeedBatch, "key" | "events">,
  signal: AbortSignal,
): Promise<void> {
  for (const approval of await withdrawnApprovals(ports.log, batch, signal)) {
    await file(ports, { tenant: batch.key.tenant, dropsOrphan: true }, approval, signal);
  }
}

/**
 * Makes the inbox agree with the log of a run. Returns whether it did not. `quick` skips runs whose last batch changed their
 * status and neither parked them nor changed an approval: they work or have ended. After a `thorough` comparison of all runs,
 * `dropOrphans` looks at every row, so that it does not look at each new one before.
 */
export async function compareApprovals(
  ports: InboxPorts,
  { key, sequence, kinds: lastKinds }: LogEnd<RunKey>,
  mode: "thorough" | "quick",
  signal: AbortSignal,
): Promise<boolean> {
  const isWaiting = lastKinds.includes("runParked") || lastKinds.includes("approval");
  if (mode === "quick" && lastKinds.includes("status") && !isWaiting) return false;
  const { events, tail } = await ports.log.read(key, emptyTail, signal);
  if (tail.sequence < sequence && events.length > 0) {
    throw new Error(`the log of run ${key.run} was read from a lagging replica`);
  }
  const head = await foldRun(events, signal);
  const filing = { tenant: key.tenant, dropsOrphan: mode === "quick" };
  let isChanged = false;
  for (const approval of approvalsOf(head)) {
    const isLeft = approval.state === ApprovalState.PENDING && isTerminal(head.status);
    const current = isLeft ? withdrawn(approval) : approval;
    if (await file(ports, filing, current, signal)) isChanged = true;
  }
  return isChanged;
}
