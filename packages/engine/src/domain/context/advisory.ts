import type { Frame } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { contextLimit } from "./context-limit.ts";

/**
 * What a model is told of its context budget after a turn that brought the conversation to `tokens`. Empty unless the agent
 * asks for it. Stored with the turn, and never reckoned again: the same prompt stays the same.
 */
export function advisoryFor(state: RunState, frame: Frame, tokens: number): string {
  if (state.head.created?.spec?.budgetAwareness !== "per-message") return "";
  const { window, compactAt } = contextLimit(state, frame);
  const percent = Math.round((tokens / window) * 100);
  return `[context budget: ${tokens} of ${window} tokens used (${percent} %); older messages are compacted above ${compactAt} tokens]`;
}
