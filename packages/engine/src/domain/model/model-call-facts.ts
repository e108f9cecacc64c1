import { durationMs } from "@bufbuild/protobuf/wkt";
import { ModelCallPurpose } from "@reeve/contracts/run";
import type { ModelCallFailed } from "@reeve/contracts/run";
import { beforeModelCall, startAnswer } from "./before-model-call.ts";
import { compactConversation, startSummary, summarized } from "./compact-conversation.ts";
import { maxAttempts } from "../budget/limits.ts";
import { failFrame } from "../end-frame.ts";
import type { Fact } from "../state/fact.ts";
import { fact } from "../state/fact.ts";
import type { Frame, ModelCall } from "../state/frame.ts";
import { scopeOf } from "../state/frame.ts";
import { modelOf } from "./model-of.ts";
import type { RunState } from "../state/run-state.ts";

/**
 * Returns the facts that follow in a step without a turn. An attempt whose owner was lost is repeated at once, a permanent
 * failure ends the frame, and the text of either is voided. A retryable failure waits first, which is an effect.
 */
export function modelCallFacts(state: RunState, frame: Frame, nowMs: number): readonly Fact[] {
  const call = frame.modelCall;
  if (call === undefined) return beforeModelCall(state, frame, nowMs);
  const { status, streamedFrom } = call;
  if (status === "in_progress") return [];
  if (streamedFrom !== undefined) {
    const value = { firstSequence: streamedFrom };
    return [fact(scopeOf(frame), { case: "textVoided", value })];
  }
  const isSummary = call.purpose === ModelCallPurpose.SUMMARY;
  if (status === "due") {
    return isSummary
      ? startSummary(state, frame, call.attempt + 1, nowMs)
      : startAnswer(state, frame, call.attempt + 1, nowMs);
  }
  if (status.retryable && call.failures < maxAttempts) return [];
  if (isSummary) return [summarized(state, frame, "")];
  if (status.reason === "context_overflow" && !frame.isCompacted) {
    const smaller = compactConversation(state, frame, nowMs);
    if (smaller.length > 0) return smaller;
  }
  return failFrame(state, frame, reasonOf(status), messageOf(state, frame, call, status));
}

/** Returns the delay before the attempt after `call`; undefined if it has not failed. A delay that the provider asks for wins. */
export function retryDelayMs(call: ModelCall): number | undefined {
  if (typeof call.status === "string") return undefined;
  const requested = call.status.retryAfter;
  const doubling = Math.min(500 * 2 ** (call.failures - 1), 30_000);
  return requested === undefined ? doubling : Math.min(durationMs(requested), 300_000);
}

/** The reasons that tell a client or an operator what to do. All others are reported as `provider_failed`. */
const reasons: ReadonlySet<string> = new Set([
  "context_overflow",
  "rate_limited",
  "refused",
  "too_large",
  "unauthenticated",
]);

function reasonOf({ reason }: ModelCallFailed): string {
  return reasons.has(reason) ? reason : "provider_failed";
}

function messageOf(
  state: RunState,
  frame: Frame,
  { attempt }: ModelCall,
  { message }: ModelCallFailed,
): string {
  const attempts = attempt === 1 ? "" : ` after ${attempt} attempts`;
  return `model ${modelOf(state, frame)?.id ?? ""} gave no answer${attempts}: ${message}`;
}
