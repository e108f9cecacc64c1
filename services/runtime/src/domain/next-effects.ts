import type { Scope } from "./fact.ts";
import { scopeOf } from "./consequences.ts";
import { awaitsApproval } from "./gate-call.ts";
import { limitsOf } from "./limits.ts";
import { retryDelayMs } from "./model-retry.ts";
import type { Call, ModelCall, RunState } from "./run-state.ts";
import { schedule } from "./schedule-calls.ts";

/** Something that has to be done outside of the log, to know the next fact. Two effects with one id are the same effect. */
export type Effect =
  | {
      readonly kind: "call_model";
      readonly id: string;
      readonly scope: Scope;
      readonly call: ModelCall;
    }
  | {
      readonly kind: "wait_to_retry";
      readonly id: string;
      readonly scope: Scope;
      readonly call: ModelCall;
      readonly delayMs: number;
    }
  | { readonly kind: "call_tool"; readonly id: string; readonly scope: Scope; readonly call: Call };

/** The effects that `state` calls for, and no others: one that is not among them any more is to be stopped. */
export function nextEffects(state: RunState): readonly Effect[] {
  if (state.end !== undefined || state.prepared === undefined || !state.frame.stepOpen) return [];
  const { frame } = state;
  const scope = scopeOf(frame);
  const model = frame.modelCall;
  if (frame.turnTaken) {
    return schedule(frame.calls, state.tools, limitsOf(state).parallelCalls).map((call) => ({
      kind: "call_tool",
      id: `tool:${call.call.callId}`,
      scope,
      call,
    }));
  }
  if (model === undefined) return [];
  if (model.status === "under_way") {
    return [{ kind: "call_model", id: `model:${model.sequence}`, scope, call: model }];
  }
  const delayMs = retryDelayMs(model);
  return delayMs === undefined
    ? []
    : [{ kind: "wait_to_retry", id: `retry:${model.sequence}`, scope, call: model, delayMs }];
}

/** What the run waits for that only somebody outside can bring: ids of approvals. */
export function openWaits({ end, frame }: RunState): readonly string[] {
  if (end !== undefined) return [];
  return frame.calls.filter(awaitsApproval).map(({ call }) => call.callId);
}

/** The calls that a run leaves behind when it ends, and that a toolhost may be working on. */
export function callsToRelease({ end, frame }: RunState): readonly Call[] {
  return end === undefined ? [] : frame.calls.filter(({ result }) => result === undefined);
}
