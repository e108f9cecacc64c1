import type { RunState } from "../state/run-state.ts";
import type { Frame } from "../state/frame.ts";
import { reservedForMedia } from "../media/media-call.ts";
import { delegateBudgets } from "./delegate-budget.ts";
import { limitsOf } from "./limits.ts";
import { dueReviewSize } from "./review-size.ts";
import { cappedPricing, inputUsd, worstCaseUsd, worstPrices } from "./worst-case.ts";

/** Returns how many tokens an answer may have, so that its call cannot exceed the limit on cost. */
export function affordableOutput(state: RunState, frame: Frame, inputTokens: number): number {
  const { costUsd = Infinity } = limitsOf(state);
  const pricing = cappedPricing(state, frame);
  if (pricing === undefined) return Infinity;
  const size = { inputTokens, maxOutputTokens: 0 };
  const prices = worstPrices(pricing, inputTokens);
  const rooms = delegateBudgets(state, frame).map(({ limits, committedUsd: committed }) =>
    limits.costUsd === undefined ? Infinity : limits.costUsd - committed(),
  );
  const left = Math.min(costUsd - committedUsd(state), ...rooms);
  const room = left - inputUsd(prices, size);
  if (room < 0) return 0;
  return prices.output === 0 ? Infinity : Math.floor((room * 1e6) / prices.output);
}

/** Returns what the run has cost, plus what its model calls and its review in progress and its lost calls may cost at most. */
export function committedUsd(state: RunState): number {
  return committedWithoutReviewUsd(state) + reviewUsd(state);
}

/** Returns what `committedUsd` returns, without the review in progress. */
export function committedWithoutReviewUsd({ head: { spent }, lostUsd, frames }: RunState): number {
  const open = [...frames.values()].reduce(
    (sum, frame) => sum + (frame.modelCall?.reservedUsd ?? 0) + reservedForMedia(frame),
    0,
  );
  return (spent.costUsd ?? 0) + lostUsd + open;
}

/** Returns what the review in progress may cost at most. One that does not fit is not made. */
export function reviewUsd(state: RunState): number {
  const { costUsd } = limitsOf(state);
  const review = costUsd === undefined ? undefined : dueReviewSize(state);
  if (costUsd === undefined || review === undefined) return 0;
  const worst = worstCaseUsd(state, review.frame, review.size) ?? 0;
  return committedWithoutReviewUsd(state) + worst > costUsd ? 0 : worst;
}
