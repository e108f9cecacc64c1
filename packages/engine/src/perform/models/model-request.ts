import { remoteProvider } from "@reeve/agent/resolve/remote-endpoint";
import type { ModelSpec } from "@reeve/contracts/agent";
import { bytesDigest } from "@reeve/contracts/digest/bytes-digest";
import { ModelCallPurpose } from "@reeve/contracts/run";
import { delegateBudgets } from "../../domain/budget/delegate-budget.ts";
import { limitsOf } from "../../domain/budget/limits.ts";
import { planCompaction } from "../../domain/context/plan-compaction.ts";
import { requestSummary } from "../../domain/model/call-size.ts";
import { modelOf } from "../../domain/model/model-of.ts";
import { answerRequest } from "../../domain/model/render-request.ts";
import type { Frame, ModelCall } from "../../domain/state/frame.ts";
import type { RunState } from "../../domain/state/run-state.ts";
import { workedMs } from "../../domain/state/worked-time.ts";
import type { ModelRequest, RemoteTurn } from "../../ports/model-provider.ts";
import { ModelFailure } from "../../ports/model-provider.ts";

/** Returns the request of a model call: the one that was counted before the call started, with the answer it reserved. */
export function modelRequest(
  state: RunState,
  frame: Frame,
  call: ModelCall,
  nowMs: number,
): ModelRequest {
  const model = modelOf(state, frame);
  if (model === undefined) {
    throw new ModelFailure("invalid", `run ${state.head.runId} has no model`);
  }
  const { purpose, maxOutputTokens } = call;
  if (purpose !== ModelCallPurpose.SUMMARY) {
    const remote = remoteTurn(state, frame, model, nowMs);
    return { model, ...answerRequest(state, frame, maxOutputTokens), ...(remote && { remote }) };
  }
  const planned = planCompaction(state, frame);
  if (planned === undefined) {
    throw new ModelFailure("invalid", `run ${state.head.runId} has nothing to summarize`);
  }
  return { model, ...requestSummary(state, frame, planned, maxOutputTokens) };
}

/** Returns where an agent at an endpoint is in its work. The id of its message follows from the place in the run. */
function remoteTurn(
  state: RunState,
  frame: Frame,
  { provider }: ModelSpec,
  nowMs: number,
): RemoteTurn | undefined {
  if (provider !== remoteProvider) return undefined;
  const { taskId = "", contextId = "", step } = frame.remote ?? {};
  const place = JSON.stringify([state.head.runId, frame.id, frame.step]);
  const digest = bytesDigest(new TextEncoder().encode(place)).slice(0, 40);
  const isAccepted = taskId !== "" && step === frame.step;
  const maxMs = leftMs(state, frame, nowMs);
  return { messageId: `reeve-${digest}`, taskId, contextId, isAccepted, maxMs };
}

/** Returns for how long a frame may still work: within the time of its run, and that of the delegates for which it works. */
function leftMs(state: RunState, frame: Frame, nowMs: number): number {
  const ofDelegates = delegateBudgets(state, frame).map(
    (budget) => (budget.maxWorkMs ?? Infinity) - budget.workedMs(nowMs),
  );
  const ofRun = limitsOf(state).wallClockMs - workedMs(state.worked, nowMs);
  return Math.max(0, Math.min(ofRun, ...ofDelegates));
}
