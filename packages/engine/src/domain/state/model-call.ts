import type { ModelCallFailed } from "@reeve/contracts/run";
import { reachedProvider } from "@reeve/run/head/reached-provider";
import type { Frame, ModelCall } from "./frame.ts";

export function failedCall(
  call: ModelCall,
  failure: ModelCallFailed,
  failedAtMs: number,
): ModelCall {
  const isOfOutage = failure.reason !== "not_configured";
  return {
    ...call,
    status: failure,
    failedAtMs,
    firstFailedAtMs: call.firstFailedAtMs ?? (isOfOutage ? failedAtMs : undefined),
    failures: call.failures + 1,
    providerFailures: call.providerFailures + (reachedProvider(failure) ? 1 : 0),
    malformedAnswers: call.malformedAnswers + (failure.reason === "malformed" ? 1 : 0),
    reservedUsd: 0,
  };
}

/** Has the next model take over. What was counted for the previous one, and what it refused, does not hold for it. */
export function changeModel(frame: Frame): Frame {
  const { modelCall } = frame;
  const replaced: ModelCall | undefined =
    modelCall?.streamedFrom === undefined
      ? undefined
      : { ...modelCall, status: "replaced", reservedUsd: 0 };
  return {
    ...frame,
    fallback: frame.fallback + 1,
    // Its window may be smaller.
    isCompacted: false,
    hasOverflowed: false,
    measured: undefined,
    counted: undefined,
    scale: 1,
    modelCall: replaced,
  };
}

export function streaming(call: ModelCall, sequence: number): ModelCall {
  return call.streamedFrom === undefined ? { ...call, streamedFrom: sequence } : call;
}

export function amendModelCall(frame: Frame, amend: (call: ModelCall) => ModelCall): Frame {
  if (frame.modelCall === undefined) return frame;
  const modelCall = amend(frame.modelCall);
  return modelCall === frame.modelCall ? frame : { ...frame, modelCall };
}
