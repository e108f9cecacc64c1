import { answerSize } from "../model/call-size.ts";
import type { Frame } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { liveFrames } from "../state/run-state.ts";
import { workedMs } from "../state/worked-time.ts";
import { limitsOf } from "./limits.ts";
import { committedWithoutReviewUsd } from "./reserve-cost.ts";
import type { ReviewSize } from "./review-size.ts";
import { worstCaseUsd } from "./worst-case.ts";

/** How long a review may take: the run keeps its worker meanwhile. */
const maxReviewMs = 60_000;
/** The shortest time that is worth a call. */
const minReviewMs = 1_000;

/**
 * Returns how long the review in progress may take, or why the run has no budget for it. Advice must not end a run that its people could still
 * decide on: each frame keeps what its next model call needs, and half of the time that the run has left.
 */
export function reviewBudget(
  state: RunState,
  frame: Frame,
  size: ReviewSize,
  nowMs: number,
): { readonly maxMs: number } | { readonly problem: string } {
  const { spent } = state.head;
  const { llmCalls, wallClockMs, totalTokens = Infinity, costUsd = Infinity } = limitsOf(state);
  const frames = liveFrames(state);
  const idle = frames.filter(({ modelCall }) => modelCall?.status !== "in_progress");
  if (spent.llmCalls - state.unansweredCalls + 1 + idle.length > llmCalls) {
    return { problem: "the run needs all its model calls that are left" };
  }
  const leftMs = wallClockMs - workedMs(state.worked, nowMs);
  const maxMs = Math.min(maxReviewMs, Math.floor(leftMs / 2));
  if (maxMs < minReviewMs) return { problem: "the run has no time left for it" };
  const open = frames.reduce((sum, { modelCall }) => {
    const { status, inputTokens = 0, maxOutputTokens = 0 } = modelCall ?? {};
    return status === "in_progress" ? sum + inputTokens + maxOutputTokens : sum;
  }, spent.inputTokens + spent.outputTokens);
  if (open + size.inputTokens + size.maxOutputTokens > totalTokens) {
    return { problem: "it may use more tokens than the run has left" };
  }
  const next = idle.map((each) => worstCaseUsd(state, each, answerSize(state, each)) ?? 0);
  const cost = next.reduce((sum, usd) => sum + usd, worstCaseUsd(state, frame, size) ?? 0);
  return committedWithoutReviewUsd(state) + cost > costUsd
    ? { problem: "it may cost more than the run has left" }
    : { maxMs };
}
