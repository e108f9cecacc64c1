import { ModelCallPurpose } from "@reeve/contracts/run";
import { planCompaction } from "../../domain/context/plan-compaction.ts";
import { requestSummary } from "../../domain/model/call-size.ts";
import { modelOf } from "../../domain/model/model-of.ts";
import { answerRequest } from "../../domain/model/render-request.ts";
import type { Frame, ModelCall } from "../../domain/state/frame.ts";
import type { RunState } from "../../domain/state/run-state.ts";
import type { ModelRequest } from "../../ports/model-provider.ts";
import { ModelFailure } from "../../ports/model-provider.ts";

/** Returns the request of a model call: the one that was counted before the call started, with the answer it reserved. */
export function modelRequest(state: RunState, frame: Frame, call: ModelCall): ModelRequest {
  const model = modelOf(state, frame);
  if (model === undefined) {
    throw new ModelFailure("invalid", `run ${state.head.runId} has no model`);
  }
  const { purpose, maxOutputTokens } = call;
  if (purpose !== ModelCallPurpose.SUMMARY) {
    return { model, ...answerRequest(state, frame, maxOutputTokens) };
  }
  const planned = planCompaction(state, frame);
  if (planned === undefined) {
    throw new ModelFailure("invalid", `run ${state.head.runId} has nothing to summarize`);
  }
  return { model, ...requestSummary(state, frame, planned, maxOutputTokens) };
}
