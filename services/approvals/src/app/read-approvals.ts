import type { Approval, ListApprovalsRequest } from "@reeve/contracts/approval";
import { ApprovalSchema, ApprovalState } from "@reeve/contracts/approval";
import { bucketOf } from "@reeve/contracts/channel";
import type { Page } from "@reeve/jetstream/table/page";
import type { Change } from "@reeve/jetstream/table/port";
import { withHeartbeats } from "@reeve/platform/async/with-heartbeats";
import { approvalNotFound, runOfApproval } from "@reeve/run/approvals/approval-id";
import { decisionTime, withTimes } from "@reeve/run/approvals/times/decidable";
import type { ApprovalPorts } from "./approval-ports.ts";

const { key: approvalKey } = bucketOf(ApprovalSchema);

export type ReadPorts = Pick<ApprovalPorts, "inbox" | "lists" | "clock" | "times">;

/** Returns an approval from the inbox, with its times. Throws a Failure of kind `not_found` if it does not exist. */
export async function getApproval(
  ports: Pick<ReadPorts, "inbox" | "clock" | "times">,
  tenant: string,
  approvalId: string,
  signal: AbortSignal,
): Promise<Approval> {
  runOfApproval(approvalId);
  const row = await ports.inbox.get(approvalKey({ tenant, approval: approvalId }), signal);
  if (row === undefined) throw approvalNotFound(approvalId);
  return shownNow(ports, tenant)(row.record);
}

/** Returns a page of a tenant's approvals, oldest first, with their times. */
export async function listApprovals(
  ports: Pick<ReadPorts, "lists" | "clock" | "times">,
  tenant: string,
  request: ListApprovalsRequest,
  signal: AbortSignal,
): Promise<Page<Approval>> {
  const selection = {
    tenant,
    ...(!request.includeClosed && { kinds: [ApprovalState.PENDING] }),
    ...(request.runId !== "" && { fields: { run_id: request.runId } }),
  };
  const page = await ports.lists.page(selection, request, signal);
  return { ...page, items: page.items.map(shownNow(ports, tenant)) };
}

/** Returns a function that adds to an approval the times that apply to it now. */
export function shownNow(
  { clock, times }: Pick<ApprovalPorts, "clock" | "times">,
  tenant: string,
): (approval: Approval) => Approval {
  const now = decisionTime({ tenant, times: times() }, clock.now());
  return (approval) => withTimes(approval, now);
}

/** The time without an approval after which a stream sends a heartbeat. */
const heartbeatMs = 5_000;

/**
 * Yields the pending approvals, then each approval when it is requested or resolved, until `signal` aborts. Yields undefined
 * as a heartbeat. An empty `runId` selects all runs of the tenant.
 */
export async function* watchApprovals(
  ports: Pick<ReadPorts, "inbox" | "clock" | "times">,
  tenant: string,
  runId: string,
  signal: AbortSignal,
): AsyncIterable<Approval | undefined> {
  const { inbox, clock } = ports;
  // Heartbeats depend on what the client receives, so approvals that it did not select must not delay them.
  const selected = (until: AbortSignal) => selectNews(inbox.watch(tenant, until), runId);
  const interval = (until: AbortSignal) => clock.sleep(heartbeatMs, until);
  for await (const next of withHeartbeats(selected, interval, signal))
    yield next === "heartbeat" ? undefined : shownNow(ports, tenant)(next);
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
