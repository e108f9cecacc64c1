import { create } from "@bufbuild/protobuf";
import { needsPasskey } from "@reeve/agent/approval-times/needs-passkey";
import { reviewerVotes } from "@reeve/agent/deciders/reviewer";
import type { Alternative, Approval } from "@reeve/contracts/approval";
import { DecisionSchema, ReviewAdvice } from "@reeve/contracts/approval";
import { castVote } from "@reeve/run/approvals/votes/count-vote";
import type { RunState } from "../../state/run-state.ts";

const ofReviewer = ({ reviewer }: Alternative) => reviewer;

/**
 * Returns an approval with the vote that its new advice is, or undefined if it is none: the worker has checked the times and the
 * operator's policy, and others may have voted since. A model never confirms with a passkey.
 */
export function withReviewerVote({ head }: RunState, approval: Approval): Approval | undefined {
  const { review, alternatives } = approval;
  if (review?.votes !== true) return undefined;
  const approved = review.advice === ReviewAdvice.APPROVE;
  if (!approved && review.advice !== ReviewAdvice.REJECT) return undefined;
  const policy = head.created?.spec?.approvalPolicy;
  if (!reviewerVotes(policy, approval, approved)) return undefined;
  const rules = { tenant: head.created?.tenant ?? "", times: undefined, head };
  if (approved && needsPasskey(approval, rules)) return undefined;
  if (alternatives.length > 0 && !alternatives.some(ofReviewer)) return undefined;
  const { model, rubricSha256, reason, reviewedAt } = review;
  const decision = create(DecisionSchema, {
    approved,
    decidedBy: `reviewer:${model}`,
    reason,
    reviewer: { model, rubricSha256 },
    ...(reviewedAt && { decidedAt: reviewedAt }),
  });
  return castVote(approval, decision, ofReviewer);
}
