import { timestampMs } from "@bufbuild/protobuf/wkt";
import { reviewerVotes } from "@reeve/agent/deciders/reviewer";
import { agentWaitMs } from "@reeve/agent/deciders/wait-of";
import type { ApprovalPolicy } from "@reeve/contracts/agent";
import type { Alternative, Approval, BreakGlassUse, Decision } from "@reeve/contracts/approval";
import { isConfirmed, needsPasskey } from "@reeve/agent/approval-times/needs-passkey";
import { isSame } from "@reeve/run/approvals/votes/count-vote";
import type { Call, Frame } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { approvedCall } from "./approved-call.ts";
import { appliedTo } from "./deciders-of.ts";
import { isVotedByModel } from "./review/reviewer-vote.ts";
import { delegatesPermitVotes } from "./review/reviewing-frame.ts";

/**
 * Returns why the decision that approved a call does not permit it to start, or undefined. A service of an earlier version stores a
 * decision without counting its votes, does not know of a wait, asks for no passkey, and applies grants to calls of delegates: all are checked again. So are the
 * filters, which were evaluated for the arguments of the model.
 */
export function decisionProblem(state: RunState, frame: Frame, pending: Call): string | undefined {
  const { approval } = pending;
  if (approval === undefined) return undefined;
  const { alternatives, decision, excludedSubjects } = approval;
  const { head } = state;
  const passkeys = { tenant: head.created?.tenant ?? "", times: undefined, head };
  if (needsPasskey(approval, passkeys) && !isConfirmed(approval)) {
    return "this call was approved without the passkey that its agent requires; call again, and approve it with one";
  }
  const isPermitted =
    reviewerVotes(policyOf(state), approval, true) && delegatesPermitVotes(state, frame);
  if (isVotedByModel(approval) && !isPermitted) {
    return "a model voted for this call, which its policy does not permit";
  }
  if (approval.delegateId !== "" && decision?.appliedGrant !== undefined) {
    return "this call of a delegate was approved by a grant, which approves only calls of the agent of the run";
  }
  if (decision?.breakGlass !== undefined) return glassProblem(state, decision.breakGlass);
  const decider = decision?.decidedBy ?? "";
  if (excludedSubjects.includes(decider)) {
    return `${decider} approved this call, but may not decide on it`;
  }
  const waitEndMs = waitEndOf(state, approval);
  if (decidedMs(decision) < waitEndMs) {
    return "this call was approved before the wait that its agent requires had ended; call again, and approve later";
  }
  if (alternatives.length === 0) return undefined;
  const isReached = alternatives.map(
    (each) =>
      Math.min(each.approvalsGiven, timelyVotes(approval, each, waitEndMs)) >= each.approvals,
  );
  if (!isReached.includes(true)) {
    return "this call was approved without the votes that its agent requires";
  }
  if (decision?.editedArguments === undefined) return undefined;
  const applies = appliedTo(state, frame, approvedCall(pending), alternatives);
  return isReached.some((reached, index) => reached && applies[index])
    ? undefined
    : "the alternative that approved this call does not apply to the arguments with which it was approved; call again with these arguments";
}

function policyOf({ head }: RunState): ApprovalPolicy | undefined {
  return head.created?.spec?.approvalPolicy;
}

/** The service that stored the decision has checked the person, who may be named by a group. */
function glassProblem(
  { head: { created } }: RunState,
  { rule }: BreakGlassUse,
): string | undefined {
  const isPermitted = rule !== "" || created?.spec?.approvalPolicy?.breakGlass !== undefined;
  return isPermitted
    ? undefined
    : "this call was approved by break-glass, which its agent does not permit";
}

/**
 * Returns when the wait that the agent requires ends; 0: there is none, as for the answer to a question. A runtime of an earlier version
 * records no wait.
 */
function waitEndOf(
  { head: { created } }: RunState,
  { decidableAfter, requestedAt, call, question }: Approval,
): number {
  if (question !== undefined) return 0;
  const waitMs = agentWaitMs(created?.spec?.approvalPolicy, call?.name ?? "");
  const recordedMs = decidableAfter === undefined ? 0 : timestampMs(decidableAfter);
  if (waitMs === 0 || requestedAt === undefined) return recordedMs;
  return Math.max(recordedMs, timestampMs(requestedAt) + waitMs);
}

function decidedMs(decision: Decision | undefined): number {
  return decision?.decidedAt === undefined ? 0 : timestampMs(decision.decidedAt);
}

/**
 * Returns how many people approved the call by an alternative, as the deciding vote did, after the wait had ended: approvals of an earlier
 * version counts earlier votes too. Without a wait, all count.
 */
function timelyVotes(
  { votes, decision: deciding }: Approval,
  { name }: Alternative,
  waitEndMs: number,
): number {
  if (waitEndMs === 0) return Infinity;
  return votes.filter(
    ({ decision, countsFor }) =>
      decision?.approved === true &&
      countsFor.includes(name) &&
      decidedMs(decision) >= waitEndMs &&
      isSame(decision.editedArguments, deciding?.editedArguments),
  ).length;
}
