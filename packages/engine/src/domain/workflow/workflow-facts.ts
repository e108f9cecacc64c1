import { finishSubtaskName } from "@reeve/agent/tools/runtime-tools";
import { targetOf } from "@reeve/agent/workflow/node-target";
import { textOf } from "@reeve/agent/workflow/node-call";
import { HookPhase } from "@reeve/contracts/extensions/plugin";
import { parallelCallsIn } from "../budget/frame-caps.ts";
import { delegateRefusal, overBudget } from "../budget/over-budget.ts";
import type { RefusalNow } from "../calls/refusal-now.ts";
import { unansweredCalls } from "../calls/unanswered-calls.ts";
import { callFacts } from "../calls/turn-facts.ts";
import { stepCompleted } from "../end-frame.ts";
import { awaitsAnyAfterTool } from "../plugins/call-hooks.ts";
import { awaitsHooks, stepPoint } from "../plugins/hook-points.ts";
import type { Fact } from "../state/fact.ts";
import { fact } from "../state/fact.ts";
import type { Frame, FrameWorkflow } from "../state/frame.ts";
import { scopeOf } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import type { Evaluation } from "./evaluate.ts";
import { evaluate } from "./evaluate.ts";
import { failureOf, refuseWaiting } from "./fail-workflow.ts";
import { admitStarts } from "./start-nodes.ts";
import { startedNode } from "./node-starts.ts";
import { answerProblem, isRecord } from "./end-workflow.ts";
import { awaitsInheritedCalls } from "./inherited-calls.ts";

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
  if (awaitsInheritedCalls(state, frame)) return [];
  const ofCalls = callFacts(state, frame, nowMs, refusalNow);
  if (ofCalls.length > 0) return ofCalls;
  // Plugins see a result before any node does.
  if (awaitsAnyAfterTool(state, frame)) return [];
  const evaluation = evaluate(frame, workflow, parallelCallsIn(state, frame));
  const failure = failureOf(state, frame, workflow);
  const moved = nextOfNodes(state, frame, evaluation, { failure, nowMs });
  if (moved.length > 0) return moved;
  if (unansweredCalls(frame).length > 0) return [];
  if (awaitsHooks(state, stepPoint(frame, HookPhase.AFTER_INFERENCE))) return [];
  const answered = failure === undefined ? answerFacts(state, frame, workflow, evaluation) : [];
  if (answered.length > 0) return answered;
  if (awaitsHooks(state, stepPoint(frame, HookPhase.STEP_END))) return [];
  return [stepCompleted(frame)];
}

/** Returns the calls that start, or after a failure or over a budget the refusals of those that have not started. */
function nextOfNodes(
  state: RunState,
  frame: Frame,
  { starts: ready }: Evaluation,
  { failure, nowMs }: { readonly failure: string | undefined; readonly nowMs: number },
): readonly Fact[] {
  if (failure !== undefined) return refuseWaiting(frame, failure, nowMs);
  const admitted = admitStarts(state, frame, ready, nowMs);
  if (admitted.kind === "starts") {
    return admitted.starts.map((start) => startedNode(state, frame, start));
  }
  const { exceeded } = admitted;
  if (exceeded.ends === undefined) return overBudget(state, exceeded);
  // The frame ends after its last call: no fact may follow its end.
  const refused = refuseWaiting(frame, delegateRefusal(exceeded.ends.agentId, exceeded), nowMs);
  const isBusy = unansweredCalls(frame).length > 0;
  return refused.length > 0 || isBusy ? refused : overBudget(state, exceeded);
}

/** Returns the answer as text, and as a record if it is one. None once the log has them. */
function answerFacts(
  state: RunState,
  frame: Frame,
  { graph, guardedAnswer }: FrameWorkflow,
  { answer }: Evaluation,
): readonly Fact[] {
  if (guardedAnswer?.refusal !== undefined) return [];
  if (answer === undefined || answerProblem(answer) !== undefined) return [];
  const text = textOf(answer);
  const facts: Fact[] = [];
  if (frame.text === "" && text !== "") {
    facts.push(fact(scopeOf(frame), { case: "text", value: { text } }));
  }
  if (isRecord(answer) && !frame.calls.some(({ call }) => call.name === finishSubtaskName)) {
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
