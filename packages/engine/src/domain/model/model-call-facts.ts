import { IncompleteReason, ModelCallPurpose } from "@reeve/contracts/run";
import type { ModelCallFailed } from "@reeve/contracts/run";
import { awaitsModelHooks } from "../plugins/hook-points.ts";
import { awaitsReview, beforeModelCall, startAnswer } from "./before-model-call.ts";
import { compactConversation, startSummary, summarized } from "./compact-conversation.ts";
import { failFrame } from "../end-frame.ts";
import type { Fact } from "../state/fact.ts";
import { fact } from "../state/fact.ts";
import type { Frame, ModelCall } from "../state/frame.ts";
import { scopeOf } from "../state/frame.ts";
import { modelOf } from "./model-of.ts";
import { isRepeated } from "./retry-delay.ts";
import type { RunState } from "../state/run-state.ts";
import { callerFailure } from "../workflow/fail-workflow.ts";

/**
 * Returns the facts that follow in a step without a turn. An attempt whose owner was lost is repeated at once, a permanent
 * failure ends the frame, and the text of either is voided. A retryable failure waits first, which is an effect.
 */
export function modelCallFacts(state: RunState, frame: Frame, nowMs: number): readonly Fact[] {
  const call = frame.modelCall;
  if (call === undefined) {
    if (awaitsModelHooks(state, frame)) return [];
    return unneeded(state, frame) ?? beforeModelCall(state, frame, nowMs);
  }
  const { status, streamedFrom } = call;
  if (status === "in_progress") return [];
  if (streamedFrom !== undefined) {
    const value = { firstSequence: streamedFrom };
    return [fact(scopeOf(frame), { case: "textVoided", value })];
  }
  if (status === "replaced") return [];
  const ended = unneeded(state, frame);
  if (ended !== undefined) return ended;
  const isSummary = call.purpose === ModelCallPurpose.SUMMARY;
  if (status === "due") {
    return isSummary
      ? startSummary(state, frame, call.attempt + 1, nowMs)
      : startAnswer(state, frame, call.attempt + 1, nowMs);
  }
  if (isRepeated(call)) return [];
  if (isSummary) return [summarized(state, frame, "", IncompleteReason.UNSPECIFIED)];
  if (status.reason === "context_overflow" && !frame.isCompacted) {
    if (awaitsReview(state, frame, nowMs)) return [];
    const smaller = compactConversation(state, frame, nowMs);
    if (smaller.length > 0) return smaller;
  }
  return failFrame(state, frame, reasonOf(status), messageOf(state, frame, call, status));
}

/** Returns the end of a frame before its next model call, if a workflow that called it has failed. Undefined: none has. */
function unneeded(state: RunState, frame: Frame): readonly Fact[] | undefined {
  const failure = callerFailure(state, frame);
  return failure === undefined ? undefined : failFrame(state, frame, "caller_failed", failure);
}

/**
 * The reasons that tell a client or an operator what to do. The others are reported as `provider_failed` if a retry may help,
 * and as `provider_refused` if the request or the settings have to change.
 */
const reasons: ReadonlySet<string> = new Set([
  "context_overflow",
  "rate_limited",
  "refused",
  "too_large",
  "unauthenticated",
]);

function reasonOf({ reason, retryable }: ModelCallFailed): string {
  if (reasons.has(reason)) return reason;
  return retryable ? "provider_failed" : "provider_refused";
}

function messageOf(
  state: RunState,
  frame: Frame,
  call: ModelCall,
  { message, reason }: ModelCallFailed,
): string {
  // A provider that was missing or left alone was not called, which is no attempt.
  const count = call.attempt - (call.failures - call.providerFailures);
  const attempts = count > 1 ? ` after ${count} attempts` : "";
  const model = modelOf(state, frame);
  const remedy = remedies.get(reason)?.(model?.provider ?? "") ?? "";
  return `model ${model?.id ?? ""} failed${attempts}: ${message}${remedy}`;
}

const ofSettings = "; change the model or the settings of the agent accordingly";

/** What to do about the failures that only a change of the settings or of the agent removes. */
const remedies: ReadonlyMap<string, (provider: string) => string> = new Map([
  [
    "unauthenticated",
    (provider: string) => `; set a valid key of ${provider || "the provider"} at the runtime`,
  ],
  [
    "no_credit",
    (provider: string) => `; add credit to the account of ${provider || "the provider"}`,
  ],
  ["unknown_model", () => ofSettings],
  ["unsupported", () => ofSettings],
  ["invalid", () => ofSettings],
]);
