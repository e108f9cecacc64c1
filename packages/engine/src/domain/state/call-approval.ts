import { create } from "@bufbuild/protobuf";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalSchema, ApprovalState } from "@reeve/contracts/approval";
import type { Call } from "./frame.ts";

/** Returns what a call becomes with a version of its approval. A call whose approval was superseded was not made: it starts again when the new one is given. */
export function withApproval(before: Call, given: Approval | undefined): Partial<Call> {
  const approval = given && withReview(before.approval, given);
  return approval?.supersedes && approval.state === ApprovalState.PENDING
    ? { approval, startedAtMs: undefined, permission: undefined }
    : { approval };
}

/** A service of an earlier version drops the advice when it stores a vote. The call is not reviewed again. */
function withReview(before: Approval | undefined, approval: Approval): Approval {
  const { review, approvalId } = before ?? {};
  if (review === undefined || approval.review !== undefined) return approval;
  return approvalId === approval.approvalId
    ? create(ApprovalSchema, { ...approval, review })
    : approval;
}
