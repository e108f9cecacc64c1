import type { Frame } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { messagesTokens, requestTokens } from "./count-request.ts";
import { promptSince } from "./prompt-for.ts";
import { answerRequest } from "./render-request.ts";

/**
 * Returns how many tokens the frame's next prompt has at most: the provider's count of it; or the provider's last count, plus
 * a count of the messages after it. Without a count of the provider since the last compaction, the whole request is counted.
 */
export function promptTokens(state: RunState, frame: Frame): number {
  const before = latest.get(frame);
  if (before?.state === state) return before.tokens;
  const tokens = countPrompt(state, frame);
  latest.set(frame, { state, tokens });
  return tokens;
}

/** Several rules ask for the count of the same prompt before a model call. Neither a state nor a frame ever changes. */
const latest = new WeakMap<Frame, { readonly state: RunState; readonly tokens: number }>();

function countPrompt(state: RunState, frame: Frame): number {
  const { counted = 0, measured, scale } = frame;
  if (counted > 0) return counted;
  if (measured === undefined) return Math.ceil(scale * countedTokens(state, frame));
  const after = messagesTokens(promptSince(state, frame, measured.units));
  return measured.tokens + Math.ceil(scale * after);
}

/** Returns the runtime's own count of the frame's next request. Times the scale of the frame, it is an upper bound. */
export function countedTokens(state: RunState, frame: Frame): number {
  return requestTokens(answerRequest(state, frame, undefined));
}

/**
 * Returns how many tokens the provider counts for one that the runtime counts, by its last count of the conversation.
 * Without such a count, and at most, the scale of the frame.
 */
export function tokenRatio(state: RunState, frame: Frame): number {
  const { measured, scale } = frame;
  if (measured === undefined) return scale;
  const after = messagesTokens(promptSince(state, frame, measured.units));
  return Math.min(scale, measured.tokens / (countedTokens(state, frame) - after));
}
