import { create } from "@bufbuild/protobuf";
import { finishSubtaskName } from "@reeve/agent/tools/runtime-tools";
import { targetOf } from "@reeve/agent/workflow/node-target";
import { textOf } from "@reeve/agent/workflow/node-call";
import { ApprovalSchema, ApprovalState } from "@reeve/contracts/approval";
import { HookPhase } from "@reeve/contracts/extensions/plugin";
import { ToolStatus } from "@reeve/contracts/tool";
import { limitsOf } from "../budget/limits.ts";
import { exceededWork, overBudget } from "../budget/over-budget.ts";
import type { RefusalNow } from "../calls/refusal-now.ts";
import { refuse } from "../calls/tool-result.ts";
import { callFacts } from "../calls/turn-facts.ts";
import { stepCompleted } from "../end-frame.ts";
import { awaitsAfterTool } from "../plugins/call-hooks.ts";
import { awaitsHooks, stepPoint } from "../plugins/hook-points.ts";
import type { Fact } from "../state/fact.ts";
import { fact } from "../state/fact.ts";
import type { Frame, FrameWorkflow } from "../state/frame.ts";
import { scopeOf } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { notExecuted } from "../stop/stopped-call.ts";
import type { Evaluation } from "./evaluate.ts";
import { evaluate } from "./evaluate.ts";
import { startedNode } from "./node-starts.ts";
import { answerProblem } from "./end-workflow.ts";

/**
 * Returns the facts that follow in the step of a workflow: those of its calls, the calls of the nodes that have their inputs, and when
 * no node can run and no call is open, the answer and the end of the step.
 */
export function workflowFacts(
  state: RunState,
  frame: Frame,
  workflow: FrameWorkflow,
  { nowMs, refusalNow }: { readonly nowMs: number; readonly refusalNow: RefusalNow },
): readonly Fact[] {
  if (awaitsHooks(state, stepPoint(frame, HookPhase.STEP_START))) return [];
  const ofCalls = callFacts(state, frame, nowMs, refusalNow);
  if (ofCalls.length > 0) return ofCalls;
  // Plugins see a result before any node does.
  if (frame.calls.some((call) => awaitsAfterTool(state, frame, call))) return [];
  const evaluation = evaluate(frame, workflow, limitsOf(state).parallelCalls);
  const moved = nextOfNodes(state, frame, evaluation, nowMs);
  if (moved.length > 0) return moved;
  if (frame.calls.some(({ result }) => result === undefined)) return [];
  if (awaitsHooks(state, stepPoint(frame, HookPhase.AFTER_INFERENCE))) return [];
  const answered = answerFacts(state, frame, workflow, evaluation);
  if (answered.length > 0) return answered;
  if (awaitsHooks(state, stepPoint(frame, HookPhase.STEP_END))) return [];
  return [stepCompleted(frame)];
}

/** Returns the calls that start, or after a failure the refusals of those that have not started. */
function nextOfNodes(
  state: RunState,
  frame: Frame,
  { starts, failure }: Evaluation,
  nowMs: number,
): readonly Fact[] {
  if (failure !== undefined) return refuseWaiting(frame, failure, nowMs);
  if (starts.length === 0) return [];
  const exceeded = exceededWork(state, nowMs);
  if (exceeded !== undefined) return overBudget(state, exceeded);
  return starts.map((start) => startedNode(state, frame, start));
}

/** Calls in progress still end: their effects are known then. */
function refuseWaiting(frame: Frame, failure: string, nowMs: number): readonly Fact[] {
  const scope = scopeOf(frame);
  return frame.calls
    .filter(({ result, startedAtMs }) => result === undefined && startedAtMs === undefined)
    .flatMap((call) => {
      const content = `${notExecuted}${failure}`;
      const refused = refuse(call, scope, content, ToolStatus.ERROR, nowMs);
      const { approval } = call;
      if (approval?.state !== ApprovalState.PENDING) return [refused];
      const withdrawn = create(ApprovalSchema, { ...approval, state: ApprovalState.WITHDRAWN });
      return [fact(scope, { case: "approval", value: { approval: withdrawn } }), refused];
    });
}

/** Returns the answer as text, and as a record if it is one. None once the log has them. */
function answerFacts(
  state: RunState,
  frame: Frame,
  { graph, guardedAnswer }: FrameWorkflow,
  { answer, failure }: Evaluation,
): readonly Fact[] {
  if (guardedAnswer?.refusal !== undefined) return [];
  if (failure !== undefined || answer === undefined || answerProblem(answer) !== undefined) {
    return [];
  }
  const text = textOf(answer);
  const facts: Fact[] = [];
  if (frame.text === "" && text !== "") {
    facts.push(fact(scopeOf(frame), { case: "text", value: { text } }));
  }
  const isRecord = typeof answer === "object" && answer !== null && !Array.isArray(answer);
  if (isRecord && !frame.calls.some(({ call }) => call.name === finishSubtaskName)) {
    const position = graph.nodes.findIndex((node) => targetOf(node)?.kind === "output");
    const nodeId = graph.nodes[position]?.id ?? "";
    facts.push(
      startedNode(state, frame, {
        nodeId,
        position,
        item: 0,
        tool: finishSubtaskName,
        args: answer,
      }),
    );
  }
  return facts;
}
