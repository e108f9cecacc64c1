import { RunStatus } from "@reeve/contracts/run";
import { endRun, failRun } from "./end-run.ts";
import type { Fact } from "./fact.ts";
import { fact } from "./fact.ts";
import type { Frame } from "./frame.ts";
import { plannerId, scopeOf } from "./frame.ts";
import { parsePlan } from "./planner/parse-plan.ts";
import type { RunState } from "./run-state.ts";
import { endSubtask } from "./subtasks/end-subtask.ts";

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
    return [endSubtask(state, frame, frame.subtask, { error, message })];
  }
  return failRun(state, scopeOf(frame), error, message);
}

function planned(state: RunState, frame: Frame): readonly Fact[] {
  const steps = parsePlan(frame.text);
  if (steps === undefined) {
    const message = "the planner's answer holds no list of steps; the run goes on without a plan";
    return failFrame(state, frame, "planner_failed", message);
  }
  return [fact(scopeOf(frame), { case: "plan", value: { steps: [...steps] } })];
}
