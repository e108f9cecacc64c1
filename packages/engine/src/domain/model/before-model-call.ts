import { ModelCallPurpose } from "@reeve/contracts/run";
import { exceededBy, overBudget } from "../budget/over-budget.ts";
import { worstCaseUsd } from "../budget/reserve-cost.ts";
import { contextLimit } from "../context/context-limit.ts";
import { tokensAfter, unitsToRemove } from "../context/plan-compaction.ts";
import { completeFrame, failFrame, stepCompleted } from "../end-frame.ts";
import type { Fact } from "../state/fact.ts";
import { fact } from "../state/fact.ts";
import type { Frame } from "../state/frame.ts";
import { rootId, scopeOf } from "../state/frame.ts";
import { promptTokens } from "./prompt-tokens.ts";
import type { RunState } from "../state/run-state.ts";
import { systemPrompt } from "./system-prompt.ts";

/**
 * Returns the facts before the next turn of a frame: the start of the model call, or else a compaction that comes first, or
 * the end because of a budget or the context limit.
 */
export function beforeModelCall(state: RunState, frame: Frame, nowMs: number): readonly Fact[] {
  const tokens = promptTokens(state, frame);
  const limit = contextLimit(state, frame);
  if (tokens > limit.compactAt) {
    const facts = frame.isCompacted ? [] : compactConversation(state, frame, nowMs);
    if (facts.length > 0) return facts;
    if (limit.isHard) return stopAtLimit(state, frame, tokens, limit.compactAt);
  }
  return startModelCall(state, frame, ModelCallPurpose.ANSWER, 1, nowMs);
}

/** Returns the start of a model call, or the exceeded budget that forbids it. */
export function startModelCall(
  state: RunState,
  frame: Frame,
  purpose: ModelCallPurpose,
  attempt: number,
  nowMs: number,
): readonly Fact[] {
  const tokens = promptTokens(state, frame);
  const exceeded = exceededBy(state, frame, tokens, nowMs);
  if (exceeded !== undefined) return overBudget(state, exceeded);
  const reservedUsd = worstCaseUsd(state, frame, tokens);
  const value = { attempt, purpose, ...(reservedUsd !== undefined && { reservedUsd }) };
  return [fact(scopeOf(frame), { case: "modelCallStarted", value })];
}

/** Returns the start of a summary of the older part of the conversation, or drops that part. None if nothing can be removed. */
export function compactConversation(state: RunState, frame: Frame, nowMs: number): readonly Fact[] {
  const { compactAt, summarizes } = contextLimit(state, frame);
  const removed = unitsToRemove(frame, systemPrompt(state, frame), compactAt);
  if (removed === undefined) return [];
  return summarizes
    ? startModelCall(state, frame, ModelCallPurpose.SUMMARY, 1, nowMs)
    : [compactionFact(state, frame, removed, "")];
}

/** Returns the fact that `summary` replaces the `removed` oldest units. */
export function compactionFact(
  state: RunState,
  frame: Frame,
  removed: number,
  summary: string,
): Fact {
  return fact(scopeOf(frame), {
    case: "context",
    value: {
      beforeTokens: promptTokens(state, frame),
      afterTokens: tokensAfter(frame, systemPrompt(state, frame), removed, summary),
      summary,
      removedMessages: removed,
    },
  });
}

/**
 * Ends a frame whose conversation exceeds its limit even after compaction. The run completes with a text that says so: it was
 * configured to stay within its context, and did not fail. For the caller of a subtask it is an error that it can handle.
 */
function stopAtLimit(
  state: RunState,
  frame: Frame,
  tokens: number,
  limit: number,
): readonly Fact[] {
  const text = `The context budget is used up: the conversation has about ${tokens} tokens; the limit is ${limit}, and compaction cannot reduce it further. The work stops here.`;
  if (frame.id !== rootId) return failFrame(state, frame, "context_limit", text);
  return [
    fact(scopeOf(frame), { case: "text", value: { text } }),
    stepCompleted(frame),
    // A message that waits gets another step, which ends in the same way.
    ...(state.head.pendingMessages.size === 0 ? completeFrame(state, frame) : []),
  ];
}
