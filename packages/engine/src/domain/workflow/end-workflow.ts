import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { textOf } from "@reeve/agent/workflow/node-call";
import { joinedProblem } from "@reeve/agent/workflow/value-limits";
import { StepState } from "@reeve/contracts/run";
import { isStorable } from "@reeve/contracts/rules/nesting";
import { parallelCallsIn } from "../budget/frame-caps.ts";
import { exceededWork, overBudget } from "../budget/over-budget.ts";
import { completeFrame, failFrame, outsideSteps } from "../end-frame.ts";
import { guardrailTripped } from "../guardrails/guard-stop.ts";
import type { Fact } from "../state/fact.ts";
import { fact } from "../state/fact.ts";
import type { Frame, FrameWorkflow } from "../state/frame.ts";
import { scopeOf } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { evaluate } from "./evaluate.ts";
import { failureOf } from "./fail-workflow.ts";
import { byteLength, maxValueBytes, recordProblem } from "./node-starts.ts";

/** Returns the facts that start the only step of a workflow, or end its frame after it. */
export function stepOfWorkflow(
  state: RunState,
  frame: Frame,
  workflow: FrameWorkflow,
  nowMs: number,
): readonly Fact[] {
  if (frame.step === 0) {
    const exceeded = exceededWork(state, nowMs);
    if (exceeded !== undefined) return overBudget(state, exceeded);
    return [fact({ ...scopeOf(frame), step: 1 }, started)];
  }
  const { refusal } = workflow.guardedAnswer ?? {};
  if (refusal !== undefined) {
    return failFrame(state, outsideSteps(frame), guardrailTripped, refusal);
  }
  const { answer } = evaluate(frame, workflow, parallelCallsIn(state, frame));
  const failure = failureOf(state, frame, workflow);
  const problem = failure ?? (answer === undefined ? undefined : answerProblem(answer));
  return problem === undefined
    ? completeFrame(state, frame)
    : failFrame(state, outsideSteps(frame), "node_failed", problem);
}

/** Whether an answer is a record, which the log has as the arguments of a call, too. */
export function isRecord(answer: JsonValue): answer is JsonObject {
  return typeof answer === "object" && answer !== null && !Array.isArray(answer);
}

const started = { case: "step", value: { state: StepState.STARTED } } as const;

/** Returns why the log cannot have an answer. Undefined: it can. */
export function answerProblem(answer: JsonValue): string | undefined {
  const problem = joinedProblem(answer);
  if (problem !== undefined) return `the answer of the workflow is too large: ${problem}`;
  if (!isStorable(answer)) return "the answer of the workflow is nested too deeply";
  const bytes = byteLength(textOf(answer));
  if (bytes > maxValueBytes) {
    return `the answer of the workflow has ${bytes} bytes; the limit is ${maxValueBytes}; write it to a file or an artifact instead`;
  }
  return isRecord(answer) ? recordProblem(answer) : undefined;
}
