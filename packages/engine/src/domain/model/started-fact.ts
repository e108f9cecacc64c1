import type { ModelCallPurpose } from "@reeve/contracts/run";
import { asUint32 } from "@reeve/run/head/as-uint32";
import type { CallSize } from "../budget/worst-case.ts";
import { worstCaseUsd } from "../budget/worst-case.ts";
import type { Fact } from "../state/fact.ts";
import { fact } from "../state/fact.ts";
import type { Frame } from "../state/frame.ts";
import { scopeOf } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { modelOf } from "./model-of.ts";
import type { RenderedRequest } from "./model.ts";
import { requestDigests } from "./request-digest.ts";

interface StartedCall {
  readonly attempt: number;
  readonly purpose: ModelCallPurpose;
}

/** Returns the fact that a model call starts, which reserves its maximum cost. */
export function startedFact(
  state: RunState,
  frame: Frame,
  { inputTokens, maxOutputTokens, ...call }: CallSize & StartedCall,
  request: RenderedRequest,
): Fact {
  const reservedUsd = worstCaseUsd(state, frame, { inputTokens, maxOutputTokens });
  const value = {
    ...call,
    inputTokens: asUint32(inputTokens),
    ...requestDigests(modelOf(state, frame), request),
    ...(reservedUsd !== undefined && { reservedUsd }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
  };
  return fact(scopeOf(frame), { case: "modelCallStarted", value });
}
