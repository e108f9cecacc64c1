import { IncompleteReason, RunStatus, StepState } from "@reeve/contracts/run";
import { endRun, failRun } from "./end-run.ts";
import type { Fact } from "./state/fact.ts";
import { fact } from "./state/fact.ts";
import type { Frame } from "./state/frame.ts";
import { plannerId, rootId, scopeOf } from "./state/frame.ts";
import {
  actionAfter,
  answerError,
  incompleteMessage,
  incompleteReason,
} from "./incomplete-answer.ts";
import { parsePlan } from "./planner/parse-plan.ts";
import type { RunState } from "./state/run-state.ts";
import { endSubtask } from "./subtasks/end-subtask.ts";
import { isFinished, isOutOfRetries, requiresResult } from "./subtasks/finish-subtask.ts";

/** Returns the facts that end a frame after a step: it has answered, or is out of retries. None if it continues. */
export function endIfDone(state: RunState, frame: Frame): readonly Fact[] {
  if (requiresResult(frame)) {
    if (isFinished(frame)) return hasMessages(state, frame) ? [] : completeFrame(state, frame);
    if (isOutOfRetries(frame)) return failWithoutResult(state, frame);
    return isFiltered(frame) && !hasMessages(state, frame) ? failFiltered(state, frame) : [];
  }
  const hasAnswered = frame.hasTurn && frame.calls.length === 0;
  return hasAnswered && !hasMessages(state, frame) ? afterAnswer(state, frame) : [];
}

/** Whether the last turn is an answer that its model withheld. It withholds the same answer to a reminder. */
function isFiltered(frame: Frame): boolean {
  return frame.hasTurn && incompleteReason(frame) === IncompleteReason.FILTERED;
}

function failFiltered(state: RunState, frame: Frame): readonly Fact[] {
  const { error, message } = answerError(IncompleteReason.FILTERED);
  return failFrame(state, outsideSteps(frame), error, message);
}

/** Whether a message arrived during the last turn of the root, which gets a step as well. */
export function hasMessages({ head }: RunState, { id }: Frame): boolean {
  return id === rootId && head.pendingMessages.size > 0;
}

/** Returns the facts after an answer: none if it is truncated and the model is asked to continue. */
function afterAnswer(state: RunState, frame: Frame): readonly Fact[] {
  const reason = incompleteReason(frame);
  if (reason === IncompleteReason.UNSPECIFIED) return completeFrame(state, frame);
  if (frame.id === plannerId) {
    const message = `the plan is incomplete; the run continues without a plan: ${incompleteMessage(reason)}`;
    return failFrame(state, frame, "planner_failed", message);
  }
  switch (actionAfter(state, frame, reason)) {
    case "complete":
      return completeFrame(state, frame);
    case "continue":
      return [];
    case "error": {
      const { error, message } = answerError(reason);
      return failFrame(state, outsideSteps(frame), error, message);
    }
  }
}

/** Returns the root without its step: the facts that end the run belong to no step. */
export function outsideSteps(frame: Frame): Frame {
  return frame.id === rootId ? { ...frame, step: 0 } : frame;
}

/** Returns the facts of a subtask or a run that gave no result that fits its schema. */
export function failWithoutResult(state: RunState, frame: Frame): readonly Fact[] {
  const message = "no call of finish_subtask fitted the schema of the result";
  return failFrame(state, outsideSteps(frame), "schema_not_satisfied", message);
}

/** Returns the facts of a frame that has answered: the end of the run, the end of a subtask, or the plan. */
export function completeFrame(state: RunState, frame: Frame): readonly Fact[] {
  if (frame.id === plannerId) return planned(state, frame);
  if (frame.subtask !== undefined) return [endSubtask(state, frame, frame.subtask)];
  return endRun(state, RunStatus.COMPLETED);
}

/**
 * Returns the facts of a frame that cannot continue. At the root they end the run. The failure of a subtask is an error for
 * its caller only, and after the failure of the planner the run continues without a plan.
 */
export function failFrame(
  state: RunState,
  frame: Frame,
  error: string,
  message: string,
): readonly Fact[] {
  if (frame.id === plannerId) {
    return [fact(scopeOf(frame), { case: "error", value: { reason: "planner_failed", message } })];
  }
  if (frame.subtask !== undefined) {
    const ended = endSubtask(state, frame, frame.subtask, { error, message });
    // The run continues, so the step must not stay open.
    return frame.stepOpen ? [stepCompleted(frame), ended] : [ended];
  }
  return failRun(state, scopeOf(frame), error, message);
}

export function stepCompleted(frame: Frame): Fact {
  return fact(scopeOf(frame), { case: "step", value: { state: StepState.COMPLETED } });
}

function planned(state: RunState, frame: Frame): readonly Fact[] {
  const steps = parsePlan(frame.text);
  if (steps === undefined) {
    const message = "the planner's answer has no list of steps; the run continues without a plan";
    return failFrame(state, frame, "planner_failed", message);
  }
  return [fact(scopeOf(frame), { case: "plan", value: { steps: [...steps] } })];
}
