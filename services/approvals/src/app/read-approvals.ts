import type { Approval, ListApprovalsRequest } from "@reeve/contracts/approval";
import { ApprovalSchema, ApprovalState } from "@reeve/contracts/approval";
import { bucketOf } from "@reeve/contracts/channel";
import type { Page } from "@reeve/jetstream/table/page";
import type { Change, Table } from "@reeve/jetstream/table/port";
import { withHeartbeats } from "@reeve/platform/async/with-heartbeats";
import { approvalNotFound, runOfApproval } from "./approval-id.ts";
import type { ApprovalFacet, ApprovalLists } from "./approval-lists.ts";
import type { ApprovalPorts } from "./approval-ports.ts";

export const { key: approvalKey } = bucketOf(ApprovalSchema);

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

/** A page of the approvals of a tenant, oldest first. */
export async function listApprovals(
  lists: ApprovalLists,
  tenant: string,
  request: ListApprovalsRequest,
  signal: AbortSignal,
): Promise<Page<Approval>> {
  const isWanted = ({ runId, state }: ApprovalFacet) =>
    (request.includeClosed || state === ApprovalState.PENDING) &&
    (request.runId === "" || runId === request.runId);
  return await lists.page(tenant, request, isWanted, signal);
}

/** How long a stream is silent before it says that it lives. */
const heartbeatMs = 5_000;

/**
 * The approvals that are pending, then each as it is requested or resolved, until `signal` aborts. Undefined now and then
 * says that the stream lives.
 */
export async function* watchApprovals(
  { inbox, clock }: Pick<ApprovalPorts, "inbox" | "clock">,
  tenant: string,
  runId: string,
  signal: AbortSignal,
): AsyncIterable<Approval | undefined> {
  // Silence is what the client hears, however much goes on that it did not ask for.
  const wanted = (until: AbortSignal) => newsOf(inbox.watch(tenant, until), runId);
  const tick = (until: AbortSignal) => clock.sleep(heartbeatMs, until);
  for await (const next of withHeartbeats(wanted, tick, signal))
    yield next === "heartbeat" ? undefined : next;
}

async function* newsOf(
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
