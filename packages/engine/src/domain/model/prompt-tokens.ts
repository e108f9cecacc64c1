import type { Frame } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { messagesTokens, requestTokens } from "./count-request.ts";
import { promptSince } from "./prompt-for.ts";
import { answerRequest } from "./render-request.ts";

/**
 * Returns how many tokens the frame's next prompt has at most: the provider's last count, plus a count of the messages after
 * it. Without a count of the provider since the last compaction, the whole request is counted.
 */
export function promptTokens(state: RunState, frame: Frame): number {
  const { measured } = frame;
  if (measured === undefined) return wholePromptTokens(state, frame);
  const after = messagesTokens(promptSince(state, frame, measured.units));
  return measured.tokens + Math.ceil(frame.scale * after);
}

/** Returns the same without any count of the provider. */
export function wholePromptTokens(state: RunState, frame: Frame): number {
  return Math.ceil(frame.scale * requestTokens(answerRequest(state, frame, undefined)));
}
