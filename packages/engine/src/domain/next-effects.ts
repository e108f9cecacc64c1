import type { Approval } from "@reeve/contracts/approval";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import { runtimeSource } from "@reeve/agent/tools/runtime-tools";
import type { Scope } from "./state/fact.ts";
import { rootScope } from "./state/fact.ts";
import type { Call, Frame, ModelCall } from "./state/frame.ts";
import { scopeOf } from "./state/frame.ts";
import { awaitsApproval } from "./calls/gate-call.ts";
import { retryDelayMs } from "./model/model-call-facts.ts";
import { openCalls, callsInProgress } from "./calls/outgoing-calls.ts";
import { answeredQuestions } from "./calls/questions.ts";
import type { RunState } from "./state/run-state.ts";
import { hasEnded, liveFrames } from "./state/run-state.ts";

/** Something that has to be done outside of the log, to know the next fact. Two effects with one id are the same effect. */
export type Effect = {
  readonly id: string;
  /** Id of the frame that calls for it. */
  readonly frame: string;
  readonly scope: Scope;
} & (
  | { readonly kind: "call_model"; readonly call: ModelCall }
  | { readonly kind: "wait_to_retry"; readonly call: ModelCall; readonly delayMs: number }
  /** A call for a toolhost. */
  | { readonly kind: "call_tool"; readonly call: Call; readonly tool: ToolDescriptor }
  /** A call that the runtime carries out by itself, with something outside of the run. */
  | { readonly kind: "call_own_tool"; readonly call: Call }
  /** A running call is told what became of its question. */
  | { readonly kind: "answer_question"; readonly call: Call; readonly approval: Approval }
);

/** The effects that `state` calls for, and no others: one that is not among them any more is to be stopped. */
export function nextEffects(state: RunState): readonly Effect[] {
  if (hasEnded(state) || state.head.prepared === undefined) return [];
  const models = liveFrames(state).flatMap((frame) => modelEffects(frame));
  const tools = callsInProgress(state).map(({ frame, call, tool }): Effect => {
    const place = { id: `tool:${call.call.callId}`, frame: frame.id, scope: scopeOf(frame) };
    return tool.source === runtimeSource
      ? { ...place, kind: "call_own_tool", call }
      : { ...place, kind: "call_tool", call, tool };
  });
  const answers = answeredQuestions(state).map(({ call, approval }): Effect => ({
    id: `answer:${approval.approvalId}`,
    frame: approval.parentId,
    scope: rootScope,
    kind: "answer_question",
    call,
    approval,
  }));
  return [...models, ...tools, ...answers];
}

function modelEffects(frame: Frame): readonly Effect[] {
  const call = frame.modelCall;
  if (!frame.stepOpen || frame.hasTurn || call === undefined) return [];
  const place = { frame: frame.id, scope: scopeOf(frame) };
  if (call.status === "in_progress") {
    return [{ ...place, kind: "call_model", id: `model:${call.sequence}`, call }];
  }
  const delayMs = retryDelayMs(call);
  return delayMs === undefined
    ? []
    : [{ ...place, kind: "wait_to_retry", id: `retry:${call.sequence}`, call, delayMs }];
}

/** What the run waits for that only somebody outside can bring: ids of approvals. */
export function openWaits(state: RunState): readonly string[] {
  if (hasEnded(state)) return [];
  return liveFrames(state)
    .flatMap(({ calls }) => calls)
    .filter(awaitsApproval)
    .map(({ call }) => call.callId);
}

/**
 * The calls that a run leaves behind when it ends: those that a toolhost may be working on, and those that a worker which
 * has not seen the end might still hand out.
 */
export function callsToRelease(state: RunState): readonly Call[] {
  return !hasEnded(state)
    ? []
    : openCalls(state)
        .filter(({ tool }) => tool.source !== runtimeSource)
        .map(({ call }) => call);
}
