import { estimateTokens } from "../context/estimate-tokens.ts";
import type { Frame } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { systemPrompt } from "./system-prompt.ts";

/** An estimate of the tokens that the next call of the frame's model reads. */
export function promptTokens(state: RunState, frame: Frame): number {
  return estimateTokens(frame, systemPrompt(state, frame));
}
