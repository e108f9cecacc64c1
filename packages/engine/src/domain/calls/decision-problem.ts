import type { Call, Frame } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { approvedCall } from "./approved-call.ts";
import { appliedTo } from "./deciders-of.ts";

/**
 * Returns why the decision that approved a call does not permit it to start, or undefined. The votes are checked again because a
 * service of an earlier version stores a decision without counting them, and the filters because they were evaluated
 * for the arguments of the model.
 */
export function decisionProblem(
  state: RunState,
  frame: Pick<Frame, "calls">,
  pending: Call,
): string | undefined {
  const { approval } = pending;
  if (approval === undefined) return undefined;
  const { alternatives, decision, excludedSubjects } = approval;
  const decider = decision?.decidedBy ?? "";
  if (excludedSubjects.includes(decider)) {
    return `${decider} approved this call, but may not decide on it`;
  }
  if (alternatives.length === 0) return undefined;
  const isReached = alternatives.map((each) => each.approvalsGiven >= each.approvals);
  if (!isReached.includes(true)) {
    return "this call was approved without the votes that its agent requires";
  }
  if (decision?.editedArguments === undefined) return undefined;
  const applies = appliedTo(state, frame, approvedCall(pending), alternatives);
  return isReached.some((reached, index) => reached && applies[index])
    ? undefined
    : "the alternative that approved this call does not apply to the arguments with which it was approved; call again with these arguments";
}
