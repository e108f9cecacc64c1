import { create } from "@bufbuild/protobuf";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalSchema, ApprovalState } from "@reeve/contracts/approval";
import { RunStatus } from "@reeve/contracts/run";
import type { FedBatch, RunEventKind, RunFeed } from "@reeve/log/run-feed";
import { isTerminal } from "@reeve/log/run-head";
import type { Logger } from "@reeve/platform/logger";
import type { Table } from "@reeve/store/table";
import { approvalKey } from "../app/read-approvals.ts";

const kinds: ReadonlySet<RunEventKind> = new Set<RunEventKind>(["approval", "status"]);
const mostAttempts = 20;

/**
 * Keeps the inbox: a projection of the approval facts in the logs of all runs, which can be thrown away and made again. An
 * approval only ever moves from pending to closed; the end of its run withdraws it.
 */
export async function keepInbox(
  feed: RunFeed,
  inbox: Table<Approval>,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  for await (const batch of feed.consume("approvals-inbox", kinds, signal)) {
    try {
      await project(inbox, batch, signal);
      batch.acknowledge();
    } catch (error) {
      if (signal.aborted) return;
      // Not acknowledged: it comes again.
      log.warn({ err: error, runId: batch.key.run }, "approval could not be filed; trying again");
    }
  }
}

async function project(
  inbox: Table<Approval>,
  { key: { tenant, run }, events }: FedBatch,
  signal: AbortSignal,
): Promise<void> {
  for (const { event } of events) {
    if (event.case === "approval" && event.value.approval !== undefined) {
      await file(inbox, tenant, event.value.approval, signal);
    } else if (event.case === "status" && leavesApprovals(event.value.status)) {
      await withdraw(inbox, tenant, run, signal);
    }
  }
}

/** Whether a run that ended so may leave approvals behind: one that completed had them all resolved. */
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
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    const row = await inbox.get(key, signal);
    if (row !== undefined && row.record.state !== ApprovalState.PENDING) return;
    if (row !== undefined && approval.state === ApprovalState.PENDING) return;
    const written =
      row === undefined
        ? await inbox.create(key, approval, signal)
        : await inbox.update(key, approval, row.revision, signal);
    if (written !== undefined) return;
  }
  throw new Error(`approval ${approval.approvalId} changes all the time`);
}

async function withdraw(
  inbox: Table<Approval>,
  tenant: string,
  run: string,
  signal: AbortSignal,
): Promise<void> {
  for (const { record } of await inbox.list(tenant, signal)) {
    if (record.runId !== run || record.state !== ApprovalState.PENDING) continue;
    const withdrawn = create(ApprovalSchema, { ...record, state: ApprovalState.WITHDRAWN });
    await file(inbox, tenant, withdrawn, signal);
  }
}
