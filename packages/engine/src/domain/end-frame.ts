import { RunStatus, StepState } from "@reeve/contracts/run";
import { endRun, failRun } from "./end-run.ts";
import type { Fact } from "./state/fact.ts";
import { fact } from "./state/fact.ts";
import type { Frame } from "./state/frame.ts";
import { plannerId, rootId, scopeOf } from "./state/frame.ts";
import { parsePlan } from "./planner/parse-plan.ts";
import type { RunState } from "./state/run-state.ts";
import { endSubtask } from "./subtasks/end-subtask.ts";
import { isFinished, isOutOfRetries, requiresResult } from "./subtasks/finish-subtask.ts";

/** The facts of a frame whose last step was its last: it has answered, or will not any more. Nothing when it goes on. */
export function endIfDone(state: RunState, frame: Frame): readonly Fact[] {
  if (requiresResult(frame)) {
    if (isFinished(frame)) return completeFrame(state, frame);
    return isOutOfRetries(frame) ? failWithoutResult(state, frame) : [];
  }
  const hasAnswered = frame.hasTurn && frame.calls.length === 0;
  // Who sent a message while the model answered is answered too.
  const isDone = hasAnswered && (frame.id !== rootId || state.head.pendingMessages.size === 0);
  return isDone ? completeFrame(state, frame) : [];
}

/** The facts of a subtask that did not bring its result into the form that it owes. */
export function failWithoutResult(state: RunState, frame: Frame): readonly Fact[] {
  const message = "no call of finish_subtask fitted the schema of the result";
  return failFrame(state, frame, "schema_not_satisfied", message);
}

/** The facts of a frame that has come to its answer: the end of the run, the result of a subtask, the plan. */
export function completeFrame(state: RunState, frame: Frame): readonly Fact[] {
  if (frame.id === plannerId) return planned(state, frame);
  if (frame.subtask !== undefined) return [endSubtask(state, frame, frame.subtask)];
  return endRun(state, RunStatus.COMPLETED);
}

/**
 * The facts of a frame that cannot go on. At the root that is the end of the run; a subtask only fails for its caller, and
 * without a plan the run goes on.
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
    // The run goes on, so that no step of it is left open.
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
    const message = "the planner's answer holds no list of steps; the run goes on without a plan";
    return failFrame(state, frame, "planner_failed", message);
  }
  return [fact(scopeOf(frame), { case: "plan", value: { steps: [...steps] } })];
}
