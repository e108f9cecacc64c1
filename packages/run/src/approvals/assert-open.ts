import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalState } from "@reeve/contracts/approval";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { RunHead } from "../head/run-head.ts";
import { isTerminal } from "../head/run-status.ts";

type RunEnd = Pick<RunHead, "status">;

/** Whether an approval takes no more decisions: it is closed from its expiry time on, even before the expiry is in the log. */
export function isClosed(approval: Approval, head: RunEnd, nowMs: number): boolean {
  return !isPending(approval, head) || hasExpired(approval, nowMs);
}

/** Throws a Failure of kind `precondition` for a closed approval, which says why it is closed. */
export function assertOpen(approval: Approval, head: RunEnd, nowMs: number): void {
  if (!isClosed(approval, head, nowMs)) return;
  const state = isPending(approval, head) ? ApprovalState.TIMED_OUT : approval.state;
  const { approvalId, runId } = approval;
  throw new Failure(
    "precondition",
    ErrorReason.APPROVAL_CLOSED,
    `approval ${approvalId} is closed: ${closedBecause(state, approval)}`,
    { metadata: { approval_id: approvalId, run_id: runId } },
  );
}

function isPending({ state }: Approval, { status }: RunEnd): boolean {
  return state === ApprovalState.PENDING && !isTerminal(status);
}

function hasExpired({ expiresAt }: Approval, nowMs: number): boolean {
  return expiresAt !== undefined && timestampMs(expiresAt) <= nowMs;
}

function closedBecause(state: ApprovalState, { decision, expiresAt }: Approval): string {
  const grant = decision?.appliedGrant?.grantId;
  const how = grant === undefined ? "" : `, with grant ${grant}`;
  const by = decision === undefined ? "" : ` by ${decision.decidedBy}${how}`;
  switch (state) {
    case ApprovalState.APPROVED:
      return `it was approved${by}`;
    case ApprovalState.REJECTED:
      return `it was rejected${by}`;
    case ApprovalState.TIMED_OUT: {
      const at = expiresAt && ` at ${new Date(timestampMs(expiresAt)).toISOString()}`;
      return `it expired${at ?? ""}`;
    }
    case ApprovalState.SUPERSEDED:
      return "the files of its call have changed, and another approval was requested";
    case ApprovalState.WITHDRAWN:
      return "its call has ended";
    default:
      return "its run has ended";
  }
}
