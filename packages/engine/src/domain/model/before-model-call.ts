import { ModelCallPurpose } from "@reeve/contracts/run";
import { exceededBy, overBudget } from "../budget/over-budget.ts";
import { contextLimit } from "../context/context-limit.ts";
import { completeFrame, failFrame, stepCompleted } from "../end-frame.ts";
import type { Fact } from "../state/fact.ts";
import { fact } from "../state/fact.ts";
import type { Frame } from "../state/frame.ts";
import { rootId, scopeOf } from "../state/frame.ts";
import { answerSize } from "./call-size.ts";
import { compactConversation } from "./compact-conversation.ts";
import { answerRequest } from "./render-request.ts";
import { needsCount } from "./needs-count.ts";
import { promptTokens } from "./prompt-tokens.ts";
import { startedFact } from "./started-fact.ts";
import type { RunState } from "../state/run-state.ts";

/**
 * Returns the facts before the next turn of a frame: the start of the model call, or else a compaction that comes first, or
 * the end because of a budget or the context limit. None if the provider is asked to count the request first.
 */
export function beforeModelCall(state: RunState, frame: Frame, nowMs: number): readonly Fact[] {
  if (needsCount(state, frame)) return [];
  // The limit of the context must not end a frame whose compaction only waits.
  if (awaitsReview(state, frame, nowMs)) return [];
  const tokens = promptTokens(state, frame);
  const { compactAt, endAt } = contextLimit(state, frame);
  if (tokens > compactAt && !frame.isCompacted) {
    const facts = compactConversation(state, frame, nowMs);
    if (facts.length > 0) return facts;
  }
  if (endAt !== undefined && tokens > endAt) return stopAtLimit(state, frame, tokens, endAt);
  return startAnswer(state, frame, 1, nowMs);
}

/** Whether the next model call of a frame waits for the review in progress, because the budget may not suffice for both. */
export function awaitsReview(state: RunState, frame: Frame, nowMs: number): boolean {
  return exceededBy(state, frame, answerSize(state, frame), nowMs)?.untilReview === true;
}

/** Returns the start of a call for the next turn, or the exceeded budget that forbids it. */
export function startAnswer(
  state: RunState,
  frame: Frame,
  attempt: number,
  nowMs: number,
): readonly Fact[] {
  const size = answerSize(state, frame);
  const exceeded = exceededBy(state, frame, size, nowMs);
  if (exceeded !== undefined) return overBudget(state, exceeded);
  const call = { ...size, attempt, purpose: ModelCallPurpose.ANSWER };
  return [startedFact(state, frame, call, answerRequest(state, frame, size.maxOutputTokens))];
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
