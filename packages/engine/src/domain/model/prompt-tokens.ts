import { estimateTokens } from "../context/estimate-tokens.ts";
import type { Frame } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { systemPrompt } from "./system-prompt.ts";

/** Returns the estimated tokens of the frame's next prompt. */
export function promptTokens(state: RunState, frame: Frame): number {
  return estimateTokens(frame, systemPrompt(state, frame));
}
