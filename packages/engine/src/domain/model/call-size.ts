import type { CallSize } from "../budget/worst-case.ts";
import { cappedPricing } from "../budget/worst-case.ts";
import type { Compaction } from "../context/plan-compaction.ts";
import { contextLimit } from "../context/context-limit.ts";
import { workingAgent } from "../delegates/working-agent.ts";
import type { Frame } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { requestTokens } from "./count-request.ts";
import { capabilitiesOf, modelOf } from "./model-of.ts";
import type { RenderedRequest } from "./model.ts";
import { promptTokens } from "./prompt-tokens.ts";
import { summaryRequest } from "./render-request.ts";

/** Returns the size of the call for the next turn of a frame. A cap on cost, of the run or of a delegate, needs an explicit length. */
export function answerSize(state: RunState, frame: Frame): CallSize {
  const ofAgent = workingAgent(state, frame).spec?.maxTokens;
  const ofModel = modelOf(state, frame)?.maxOutputTokens ?? 0;
  const isCapped = cappedPricing(state, frame) !== undefined && ofModel > 0;
  return {
    inputTokens: promptTokens(state, frame),
    maxOutputTokens: ofAgent ?? (isCapped ? ofModel : undefined),
  };
}

/** The least length of a summary that is worth a call. */
export const minSummaryTokens = 256;
/** What a model that reasons may use before it writes the summary. */
const reasoningTokens = 2_000;

/** Returns the size of the call for the summary of a compaction. */
export function summarySize(
  state: RunState,
  frame: Frame,
  planned: Compaction,
): CallSize & { readonly maxOutputTokens: number } {
  const reasons = capabilitiesOf(state, frame)?.reasoning ?? true;
  const wanted =
    Math.max(minSummaryTokens, planned.summaryTokens) + (reasons ? reasoningTokens : 0);
  const ofModel = modelOf(state, frame)?.maxOutputTokens ?? 0;
  const maxOutputTokens = ofModel > 0 ? Math.min(wanted, ofModel) : wanted;
  const request = requestSummary(state, frame, planned, maxOutputTokens);
  return { inputTokens: Math.ceil(frame.scale * requestTokens(request)), maxOutputTokens };
}

/** Returns the request for the summary of a compaction. It stays below the same limit as the conversation. */
export function requestSummary(
  state: RunState,
  frame: Frame,
  { removed }: Compaction,
  maxTokens: number | undefined,
): RenderedRequest {
  const { endAt, window } = contextLimit(state, frame);
  const room = Math.floor((endAt ?? window) / frame.scale);
  return summaryRequest(state, frame, removed, room, maxTokens);
}
