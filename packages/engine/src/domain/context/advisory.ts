import { workingAgent } from "../delegates/working-agent.ts";
import type { Frame } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { contextLimit } from "./context-limit.ts";

/**
 * Returns the note on the context budget after a turn, with which the conversation has `tokens`. Empty unless the agent spec
 * asks for it. The note is stored with the turn and never computed again, so that the prompt stays the same.
 */
export function advisoryFor(state: RunState, frame: Frame, tokens: number): string {
  if (workingAgent(state, frame).spec?.budgetAwareness !== "per-message") return "";
  const { window, compactAt } = contextLimit(state, frame);
  const percent = Math.round((tokens / window) * 100);
  // A provider refuses a conversation above its window, which is then compacted.
  const compacted = Math.min(compactAt, window);
  return `[context budget: ${tokens} of ${window} tokens used (${percent} %); older messages are compacted above ${compacted} tokens]`;
}
