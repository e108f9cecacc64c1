import { create } from "@bufbuild/protobuf";
import { needsPasskey } from "@reeve/agent/approval-times/needs-passkey";
import { reviewerVotes } from "@reeve/agent/deciders/reviewer";
import type { Alternative, Approval } from "@reeve/contracts/approval";
import { DecisionSchema, ReviewAdvice } from "@reeve/contracts/approval";
import { castVote } from "@reeve/run/approvals/votes/count-vote";
import type { RunState } from "../../state/run-state.ts";
import { sizeOfApproval } from "./approval-size.ts";

/** A batch has a mebibyte at most, and has the approval with the advice and, once more, with the vote. */
const maxVotedBytes = 480 * 1024;

/** Whether an approval is so large that no batch of the log may have it with advice and with a vote. Advice about it is no vote. */
export function isTooLargeToVote(approval: Approval): boolean {
  return sizeOfApproval(approval) > maxVotedBytes;
}

/** Whether a model voted for a call, or approved it alone. */
export function isVotedByModel({ decision, votes }: Approval): boolean {
  const decisions = [decision, ...votes.map((vote) => vote.decision)];
  return decisions.some((each) => each?.reviewer !== undefined && each.approved);
}

const ofReviewer = ({ reviewer }: Alternative) => reviewer;

/**
 * Returns an approval with the vote that its new advice is, or undefined if it is none: the worker has checked the times and the
 * operator's policy, and others may have voted since. A model never confirms with a passkey.
 */
export function withReviewerVote({ head }: RunState, approval: Approval): Approval | undefined {
  const { review, alternatives } = approval;
  if (review?.votes !== true || isTooLargeToVote(approval)) return undefined;
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
