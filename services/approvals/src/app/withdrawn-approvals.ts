import { create } from "@bufbuild/protobuf";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalSchema, ApprovalState } from "@reeve/contracts/approval";
import { RunStatus } from "@reeve/contracts/run";
import type { RunFeedBatch } from "@reeve/jetstream/feed/run-feed";
import { readThrough } from "@reeve/jetstream/log/read-through";
import type { RunLog } from "@reeve/jetstream/log/run-log";
import { foldRun } from "@reeve/run/commands/fold-run";
import { approvalsOf } from "@reeve/run/head/run-head";
import { isTerminal } from "@reeve/run/head/run-status";

/** Whether a run with this final status can leave pending approvals. A completed run cannot. */
export function leavesApprovals(status: RunStatus): boolean {
  return isTerminal(status) && status !== RunStatus.COMPLETED;
}

/** Returns the approvals that the end of a run withdraws: those that its log leaves pending. */
export async function withdrawnApprovals(
  log: Pick<RunLog, "read">,
  { key, events: batch }: Pick<RunFeedBatch, "key" | "events">,
  signal: AbortSignal,
): Promise<readonly Approval[]> {
  const { events } = await readThrough(log, key, batch.at(-1)?.sequence ?? 0, signal);
  return approvalsOf(await foldRun(events, signal))
    .filter(({ state }) => state === ApprovalState.PENDING)
    .map(withdrawn);
}

/** Returns an approval as the end of its run leaves it. */
export function withdrawn(approval: Approval): Approval {
  return create(ApprovalSchema, { ...approval, state: ApprovalState.WITHDRAWN });
}
