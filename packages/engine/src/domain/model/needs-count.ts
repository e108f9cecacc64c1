import type { DelegateBudget } from "../budget/delegate-budget.ts";
import { delegateBudgets } from "../budget/delegate-budget.ts";
import { limitsOf } from "../budget/limits.ts";
import { committedUsd } from "../budget/reserve-cost.ts";
import { worstCaseUsd } from "../budget/worst-case.ts";
import { contextLimit } from "../context/context-limit.ts";
import type { Frame } from "../state/frame.ts";
import { plannerId } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { answerSize } from "./call-size.ts";
import { capabilitiesOf } from "./model-of.ts";

/**
 * Returns whether the provider has to count the next request of a frame: it can, and the upper bound of the runtime exceeds a
 * limit, so that an exact count may spare a compaction or the end of the run. Below every limit the bound is good enough, and
 * a count would only delay the answer.
 */
export function needsCount(state: RunState, frame: Frame): boolean {
  const { stepOpen, hasTurn, modelCall, counted, isCompacted } = frame;
  const isDue = stepOpen && !hasTurn && modelCall === undefined && counted === undefined;
  if (!isDue || !countsTokens(state, frame)) return false;
  const size = answerSize(state, frame);
  const { compactAt, endAt = Infinity } = contextLimit(state, frame);
  const isTooLong = size.inputTokens > (isCompacted ? endAt : Math.min(compactAt, endAt));
  const usd = worstCaseUsd(state, frame, size) ?? 0;
  const isTooDear = committedUsd(state) + usd > (limitsOf(state).costUsd ?? Infinity);
  return isTooLong || isTooDear || delegateBudgets(state, frame).some(isExceededBy(usd));
}

function isExceededBy(usd: number) {
  return ({ committedUsd: committed, limits }: DelegateBudget): boolean =>
    limits.costUsd !== undefined && committed() + usd > limits.costUsd;
}

/** Returns whether the provider of a frame counts tokens. The planner, which has no open step, uses the bound. */
export function countsTokens(state: RunState, frame: Frame): boolean {
  return frame.id !== plannerId && capabilitiesOf(state, frame)?.countsTokens === true;
}
