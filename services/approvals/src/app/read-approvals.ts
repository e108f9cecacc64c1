import type { Approval, ListApprovalsRequest } from "@reeve/contracts/approval";
import { ApprovalSchema, ApprovalState } from "@reeve/contracts/approval";
import { bucketOf } from "@reeve/contracts/channel";
import type { Page } from "@reeve/jetstream/table/page";
import type { Change, Table } from "@reeve/jetstream/table/port";
import { withHeartbeats } from "@reeve/platform/async/with-heartbeats";
import { approvalNotFound, runOfApproval } from "@reeve/run/approvals/approval-id";
import type { ApprovalLists } from "./approval-lists.ts";
import type { ApprovalPorts } from "./approval-ports.ts";

const { key: approvalKey } = bucketOf(ApprovalSchema);

/** Returns an approval from the inbox. Throws a Failure of kind `not_found` if it does not exist. */
export async function getApproval(
  inbox: Table<Approval>,
  tenant: string,
  approvalId: string,
  signal: AbortSignal,
): Promise<Approval> {
  runOfApproval(approvalId);
  const row = await inbox.get(approvalKey({ tenant, approval: approvalId }), signal);
  if (row === undefined) throw approvalNotFound(approvalId);
  return row.record;
}

/** Returns a page of a tenant's approvals, oldest first. */
export async function listApprovals(
  lists: ApprovalLists,
  tenant: string,
  request: ListApprovalsRequest,
  signal: AbortSignal,
): Promise<Page<Approval>> {
  const selection = {
    tenant,
    ...(!request.includeClosed && { kinds: [ApprovalState.PENDING] }),
    ...(request.runId !== "" && { fields: { run_id: request.runId } }),
  };
  return await lists.page(selection, request, signal);
}

/** The time without an approval after which a stream sends a heartbeat. */
const heartbeatMs = 5_000;

/**
 * Yields the pending approvals, then each approval when it is requested or resolved, until `signal` aborts. Yields undefined
 * as a heartbeat. An empty `runId` selects all runs of the tenant.
 */
export async function* watchApprovals(
  { inbox, clock }: Pick<ApprovalPorts, "inbox" | "clock">,
  tenant: string,
  runId: string,
  signal: AbortSignal,
): AsyncIterable<Approval | undefined> {
  // Heartbeats depend on what the client receives, so approvals that it did not select must not delay them.
  const selected = (until: AbortSignal) => selectNews(inbox.watch(tenant, until), runId);
  const interval = (until: AbortSignal) => clock.sleep(heartbeatMs, until);
  for await (const next of withHeartbeats(selected, interval, signal))
    yield next === "heartbeat" ? undefined : next;
}

async function* selectNews(
  changes: AsyncIterable<Change<Approval>>,
  runId: string,
): AsyncIterable<Approval> {
  let isCurrent = false;
  for await (const change of changes) {
    if (change.kind === "current") isCurrent = true;
    if (change.kind !== "written") continue;
    const { record } = change.row;
    const isNews = isCurrent || record.state === ApprovalState.PENDING;
    if (isNews && (runId === "" || record.runId === runId)) yield record;
  }
}
