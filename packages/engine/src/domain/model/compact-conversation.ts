import type { IncompleteReason } from "@reeve/contracts/run";
import { ModelCallPurpose } from "@reeve/contracts/run";
import { asUint32 } from "@reeve/run/head/as-uint32";
import { exceededBy, overBudget } from "../budget/over-budget.ts";
import { affordableOutput } from "../budget/reserve-cost.ts";
import { contextLimit } from "../context/context-limit.ts";
import type { Compaction } from "../context/plan-compaction.ts";
import {
  fitSummary,
  markedSummary,
  planCompaction,
  tokensAfter,
} from "../context/plan-compaction.ts";
import { transcript } from "../context/summary-prompt.ts";
import type { Fact } from "../state/fact.ts";
import { fact } from "../state/fact.ts";
import type { Frame } from "../state/frame.ts";
import { scopeOf } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { minSummaryTokens, requestSummary, summarySize } from "./call-size.ts";
import { promptTokens } from "./prompt-tokens.ts";
import { startedFact } from "./started-fact.ts";

/** Returns the start of a summary of the older part of the conversation, or drops that part. None if nothing can be removed. */
export function compactConversation(state: RunState, frame: Frame, nowMs: number): readonly Fact[] {
  const planned = planCompaction(state, frame);
  if (planned === undefined) return [];
  return contextLimit(state, frame).summarizes
    ? startSummary(state, frame, 1, nowMs)
    : [compactionFact(state, frame, planned, "")];
}

/**
 * Returns the start of a call for a summary. Its answer is shortened to what the limit on cost allows. If that is too little,
 * the older part is removed without a call.
 */
export function startSummary(
  state: RunState,
  frame: Frame,
  attempt: number,
  nowMs: number,
): readonly Fact[] {
  const planned = planCompaction(state, frame);
  if (planned === undefined) return [unchanged(state, frame)];
  const { inputTokens, maxOutputTokens: wanted } = summarySize(state, frame, planned);
  const maxOutputTokens = Math.min(wanted, affordableOutput(state, frame, inputTokens));
  if (maxOutputTokens < minSummaryTokens) return [withoutSummary(state, frame, planned)];
  const size = { inputTokens, maxOutputTokens };
  const exceeded = exceededBy(state, frame, size, nowMs);
  if (exceeded !== undefined) return overBudget(state, exceeded);
  const call = { ...size, attempt, purpose: ModelCallPurpose.SUMMARY };
  const request = requestSummary(state, frame, planned, maxOutputTokens);
  return [startedFact(state, frame, call, request)];
}

/**
 * Returns the compaction with the summary that a model gave, with a note if it is incomplete. An empty one, and one that failed,
 * is replaced by an excerpt.
 */
export function summarized(
  state: RunState,
  frame: Frame,
  summary: string,
  reason: IncompleteReason,
): Fact {
  const planned = planCompaction(state, frame);
  if (planned === undefined) return unchanged(state, frame);
  if (summary.trim() === "") return withoutSummary(state, frame, planned);
  return compactionFact(state, frame, planned, markedSummary(summary, planned, reason));
}

/** Returns the compaction that keeps the end of the removed part in place of a summary. */
function withoutSummary(state: RunState, frame: Frame, planned: Compaction): Fact {
  const end = transcript(frame, planned.removed, planned.summaryTokens);
  const excerpt = fitSummary(`${excerptMark}\n\n${end}`, planned);
  return compactionFact(state, frame, planned, excerpt.length > excerptMark.length ? excerpt : "");
}

const excerptMark = "There is no summary. This is the end of what was removed:";

/** Returns the compaction that changes nothing. A log of another version may have begun a summary of nothing. */
function unchanged(state: RunState, frame: Frame): Fact {
  const { removed, summary } = frame.compaction ?? { removed: 0, summary: "" };
  return compactionFact(state, frame, { removed }, summary);
}

/** Returns the fact that `summary` replaces the oldest units. */
function compactionFact(
  state: RunState,
  frame: Frame,
  { removed }: Pick<Compaction, "removed">,
  summary: string,
): Fact {
  return fact(scopeOf(frame), {
    case: "context",
    value: {
      beforeTokens: asUint32(promptTokens(state, frame)),
      afterTokens: asUint32(tokensAfter(state, frame, removed, summary)),
      summary,
      removedMessages: removed,
    },
  });
}
