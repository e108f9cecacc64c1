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
 * The fact that calls the model of a frame for its next turn; or what comes before it: a budget that ends the run, and a
 * conversation that is made smaller first.
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

/** A call of the frame's model, unless a budget forbids it. */
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

/** Has the older part of the conversation summarized, or leaves it out. Nothing when nothing can be taken out. */
export function compactConversation(state: RunState, frame: Frame, nowMs: number): readonly Fact[] {
  const { compactAt, summarizes } = contextLimit(state, frame);
  const removed = unitsToRemove(frame, systemPrompt(state, frame), compactAt);
  if (removed === undefined) return [];
  return summarizes
    ? startModelCall(state, frame, ModelCallPurpose.SUMMARY, 1, nowMs)
    : [compactionFact(state, frame, removed, "")];
}

/** The older part of the conversation is out, and `summary` stands for it. */
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
 * A conversation that is too large for its limit, whatever is taken out, ends with a word about it as its answer: a run
 * that was told to keep within its context did not fail. To the caller of a subtask it is an error, which it can act on.
 */
function stopAtLimit(
  state: RunState,
  frame: Frame,
  tokens: number,
  limit: number,
): readonly Fact[] {
  const text = `The context budget is used up: the conversation has about ${tokens} tokens and may have ${limit}, and making it smaller does not bring it below. The work stops here.`;
  if (frame.id !== rootId) return failFrame(state, frame, "context_limit", text);
  return [
    fact(scopeOf(frame), { case: "text", value: { text } }),
    stepCompleted(frame),
    // A message that nobody took up has a step of its own, which ends in the same way.
    ...(state.head.pendingMessages.size === 0 ? completeFrame(state, frame) : []),
  ];
}
