import { finishSubtaskName } from "@reeve/agent/tools/runtime-tools";
import { isApprovalNode } from "@reeve/agent/workflow/wait-tools";
import { HookPhase } from "@reeve/contracts/extensions/plugin";
import { stepCompleted } from "../end-frame.ts";
import type { Fact } from "../state/fact.ts";
import type { Call, Frame } from "../state/frame.ts";
import { plannerId } from "../state/frame.ts";
import { voidRefused } from "../guardrails/refused-turn.ts";
import { clientCallFacts, isClientTool } from "../client-calls/client-calls.ts";
import { gateCall, isCleared } from "./gate-call.ts";
import { nextStep } from "../next-step.ts";
import { unansweredCalls } from "./unanswered-calls.ts";
import { parallelCallLimit } from "./outgoing-calls.ts";
import { awaitsAnyAfterTool, awaitsStart } from "../plugins/call-hooks.ts";
import { awaitsHooks, stepPoint } from "../plugins/hook-points.ts";
import type { RefusalNow } from "./refusal-now.ts";
import { refusalFact } from "./refusal-now.ts";
import { awaitsGate, withHeldCalls } from "./call-content.ts";
import { permissionOf } from "./call-permission.ts";
import { isPure, runRuntimeTool } from "../runtime-tools/run-runtime-tool.ts";
import type { RunState } from "../state/run-state.ts";
import { isSubagent, scheduleCalls } from "./schedule-calls.ts";
import { aggregateResults } from "../subtasks/aggregate-results.ts";
import { refuseStopped } from "../stop/end-stopped.ts";
import { stopAfterTurn } from "../stop/stop-after-turn.ts";
import { finishSubtask } from "../subtasks/finish-subtask.ts";
import { startRemaining, spawnSubtasks } from "../subtasks/spawn-subtasks.ts";
import { approvedNode } from "../workflow/approved-node.ts";
import { callerFailure, refuseWaiting } from "../workflow/fail-workflow.ts";

/** Returns the facts that follow in a step with a turn: those of its calls, and when all have results, the end of the step. */
export function turnFacts(
  state: RunState,
  frame: Frame,
  nowMs: number,
  refusalNow: RefusalNow,
): readonly Fact[] {
  if (awaitsHooks(state, stepPoint(frame, HookPhase.AFTER_INFERENCE))) return [];
  const voided = voidRefused(frame);
  if (voided.length > 0) return voided;
  const stop = stopAfterTurn(state, frame);
  if (stop !== undefined) {
    const refused = refuseStopped(frame, stop, nowMs);
    if (refused.length > 0) return refused;
  }
  // Calls in progress end, so that their effects are known.
  const failure = callerFailure(state, frame);
  const unneeded = failure === undefined ? [] : refuseWaiting(frame, failure, nowMs);
  if (unneeded.length > 0) return unneeded;
  const ofCalls = callFacts(state, frame, nowMs, refusalNow);
  if (ofCalls.length > 0) return ofCalls;
  if (unansweredCalls(frame).length > 0) return [];
  if (awaitsAnyAfterTool(state, frame)) return [];
  if (awaitsHooks(state, stepPoint(frame, HookPhase.STEP_END))) return [];
  // The planner records no steps.
  return frame.id === plannerId ? nextStep(state, frame, nowMs) : [stepCompleted(frame)];
}

/** Returns the facts of the open calls of a step that need no effect. */
export function callFacts(
  state: RunState,
  frame: Frame,
  nowMs: number,
  refusalNow: RefusalNow,
): readonly Fact[] {
  const unanswered = unansweredCalls(frame);
  const gated = unanswered.flatMap((call) => gateCall(state, frame, call, nowMs));
  if (gated.length > 0) return gated;
  for (const call of unanswered) {
    const facts = ownFacts(state, frame, call, { nowMs, refusalNow });
    if (facts.length > 0) return facts;
  }
  return [];
}

/** Returns the facts of a cleared call that the runtime executes without an effect; none for other calls. */
function ownFacts(
  state: RunState,
  frame: Frame,
  call: Call,
  { nowMs, refusalNow }: { readonly nowMs: number; readonly refusalNow: RefusalNow },
): readonly Fact[] {
  const tool = frame.tools.get(call.call.name);
  if (tool === undefined || !isCleared(call) || awaitsGate(state, frame, call)) return [];
  if (isPure(tool)) {
    const permission = permissionOf(state, frame, tool, call);
    return runRuntimeTool(state, frame, { ...call, permission }, nowMs);
  }
  if (isApprovalNode(tool)) return approvedNode(frame, call, nowMs);
  if (isClientTool(tool)) {
    return clientCallFacts(state, frame, call, tool, { nowMs, refusalNow });
  }
  if (!isSubagent(tool)) return [];
  if (tool.name === finishSubtaskName) {
    const others = frame.calls.filter(({ call: { name } }) => name !== finishSubtaskName);
    return others.every(({ result }) => result !== undefined)
      ? finishSubtask(state, frame, call, nowMs)
      : [];
  }
  if (call.startedAtMs !== undefined) {
    const missing = startRemaining(state, frame, call);
    return missing.length > 0 ? missing : aggregateResults(state, frame, call, nowMs);
  }
  const due = scheduleCalls(withHeldCalls(state, frame), parallelCallLimit(state, frame));
  if (!due.includes(call) || awaitsStart(state, frame, call)) return [];
  const refusal = refusalNow(state, frame, call, tool);
  return refusal === undefined
    ? spawnSubtasks(state, frame, call, nowMs)
    : [refusalFact(frame, call, refusal, nowMs)];
}
