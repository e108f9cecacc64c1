import { IncompleteReason } from "@reeve/contracts/run";
import type { AgentSpec } from "@reeve/contracts/agent";
import { incompleteReasonOf } from "@reeve/run/head/incomplete-reason";
import { frameLimits } from "./budget/limits.ts";
import { workingAgent } from "./delegates/working-agent.ts";
import type { Frame, Unit } from "./state/frame.ts";
import type { RunState } from "./state/run-state.ts";

/** What happens when an answer that would end a frame is incomplete. */
export type AnswerAction = "complete" | "continue" | "error";

const defaultContinuations = 3;

/** Returns why a unit is an incomplete answer; unspecified for a complete answer, and for any other unit. */
export function reasonOfUnit(unit: Unit | undefined): IncompleteReason {
  return unit?.kind === "turn" && unit.calls.length === 0
    ? incompleteReasonOf(unit.turn.finishReason)
    : IncompleteReason.UNSPECIFIED;
}

/** Whether a unit is the start of an answer that the next turn continues. One that guards refused is no part of any answer. */
export function isTruncatedPart(unit: Unit | undefined): boolean {
  return (
    unit?.kind === "turn" &&
    unit.refusal === undefined &&
    reasonOfUnit(unit) === IncompleteReason.TRUNCATED
  );
}

/** Returns why the last answer of a frame is incomplete. */
export function incompleteReason({ units }: Pick<Frame, "units">): IncompleteReason {
  return reasonOfUnit(units.newest?.value);
}

/** Whether the agent has truncated answers continued. */
export function continuesAnswers(spec: AgentSpec | undefined): boolean {
  return spec?.answerPolicy?.truncated === "continue";
}

/**
 * Returns what happens after an incomplete answer. A truncated answer is continued at most as often as the policy permits,
 * and only while the frame has steps left; then it completes as it is.
 */
export function actionAfter(state: RunState, frame: Frame, reason: IncompleteReason): AnswerAction {
  const { spec } = workingAgent(state, frame);
  const policy = spec?.answerPolicy;
  if (reason === IncompleteReason.FILTERED) {
    return policy?.filtered === "complete" ? "complete" : "error";
  }
  if (policy?.truncated === "error") return "error";
  const hasSteps = frame.step - frame.answeredStep < frameLimits(state, frame).rounds;
  const max = policy?.maxContinuations ?? defaultContinuations;
  return continuesAnswers(spec) && hasSteps && truncatedInARow(frame) <= max
    ? "continue"
    : "complete";
}

function truncatedInARow({ units }: Frame): number {
  let count = 0;
  let entry = units.newest;
  while (isTruncatedPart(entry?.value)) {
    count += 1;
    entry = entry?.before;
  }
  return count;
}

/** Returns the constant and the description of an error because of an incomplete answer. */
export function answerError(reason: IncompleteReason): {
  readonly error: string;
  readonly message: string;
} {
  return reason === IncompleteReason.TRUNCATED
    ? { error: "answer_truncated", message: incompleteMessage(reason) }
    : { error: "answer_filtered", message: incompleteMessage(reason) };
}

/** Describes an incomplete answer to people and models; empty for a complete one. */
export function incompleteMessage(reason: IncompleteReason): string {
  switch (reason) {
    case IncompleteReason.TRUNCATED:
      return "the answer is truncated: it reached its token limit; raise max_tokens, or set answer_policy.truncated to continue";
    case IncompleteReason.FILTERED:
      return "the answer is filtered: the model or its provider withheld it or a part of it";
    default:
      return "";
  }
}
