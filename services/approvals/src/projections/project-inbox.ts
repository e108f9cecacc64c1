import { create } from "@bufbuild/protobuf";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalSchema, ApprovalState } from "@reeve/contracts/approval";
import { RunStatus } from "@reeve/contracts/run";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { RunFeedBatch, RunFeed } from "@reeve/jetstream/feed/run-feed";
import { approvalsOf, emptyHead, foldHead } from "@reeve/run/head/run-head";
import { isTerminal } from "@reeve/run/head/run-status";
import type { RunKey, RunLog } from "@reeve/jetstream/log/run-log";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { Table } from "@reeve/jetstream/table/port";
import { approvalKey } from "../app/read-approvals.ts";
import { kindsIn } from "@reeve/run/head/event-kinds";

const kinds = kindsIn({
  approval: true,
  status: true,
  runCreated: false,
  runClaimed: false,
  runParked: false,
  runPrepared: false,
  step: false,
  text: false,
  reasoning: false,
  textVoided: false,
  toolCall: false,
  toolCallStarted: false,
  toolResult: false,
  mcpProgress: false,
  subtask: false,
  plan: false,
  context: false,
  usage: false,
  modelCallStarted: false,
  modelTurn: false,
  modelCallFailed: false,
  modelRetryDue: false,
  messageSubmitted: false,
  messageInjected: false,
  memoryWritten: false,
  todosChanged: false,
  cancelRequested: false,
  budgetExceeded: false,
  error: false,
  costSummary: false,
  treeStored: false,
});
const maxAttempts = 20;

export interface InboxPorts {
  readonly inbox: Table<Approval>;
  readonly log: Pick<RunLog, "read">;
}

/**
 * Maintains the inbox: a projection of the approval facts in the logs of all runs, which can be discarded and rebuilt. An
 * approval only ever moves from pending to closed, in whatever order the batches of its run arrive; the end of its run
 * withdraws it.
 */
export async function projectInbox(
  feed: RunFeed,
  ports: InboxPorts,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  for await (const batch of feed.consume("approvals-inbox", kinds, signal)) {
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
      await file(ports.inbox, key.tenant, event.value.approval, signal);
    } else if (event.case === "status" && leavesApprovals(event.value.status)) {
      await withdraw(ports, key, signal);
    }
  }
}

/** Whether a run with this final status can leave pending approvals. A completed run cannot. */
function leavesApprovals(status: RunStatus): boolean {
  return isTerminal(status) && status !== RunStatus.COMPLETED;
}

async function file(
  inbox: Table<Approval>,
  tenant: string,
  approval: Approval,
  signal: AbortSignal,
): Promise<void> {
  const key = approvalKey({ tenant, approval: approval.approvalId });
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const row = await inbox.get(key, signal);
    if (row !== undefined && row.record.state !== ApprovalState.PENDING) return;
    if (row !== undefined && approval.state === ApprovalState.PENDING) return;
    const written =
      row === undefined
        ? await inbox.create(key, approval, signal)
        : await inbox.update(key, approval, row.revision, signal);
    if (written !== undefined) return;
  }
  throw new Error(`approval ${approval.approvalId} lost ${maxAttempts} writes to other writers`);
}

/** Withdraws the approvals that the log leaves pending, including those that are not in the inbox yet. */
async function withdraw(
  { inbox, log }: InboxPorts,
  key: RunKey,
  signal: AbortSignal,
): Promise<void> {
  const { events } = await log.read(key, emptyTail, signal);
  for (const approval of approvalsOf(foldHead(emptyHead, events))) {
    if (approval.state !== ApprovalState.PENDING) continue;
    const withdrawn = create(ApprovalSchema, { ...approval, state: ApprovalState.WITHDRAWN });
    await file(inbox, key.tenant, withdrawn, signal);
  }
}
