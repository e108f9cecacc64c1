import type { ModelSpec } from "@reeve/contracts/agent";
import { limitsOf } from "../budget/limits.ts";
import { committedUsd } from "../budget/reserve-cost.ts";
import type { CallSize } from "../budget/worst-case.ts";
import { inputUsd, worstPrices } from "../budget/worst-case.ts";
import type { RunState } from "../state/run-state.ts";
import { workedMs } from "../state/worked-time.ts";

/** How long the check of a model may take. */
const maxCheckMs = 60_000;

/** Returns how long the check of a model may take, or why the run has no budget for it. */
export function guardBudget(
  state: RunState,
  model: ModelSpec,
  size: CallSize & { readonly maxOutputTokens: number },
  nowMs: number,
): { readonly maxMs: number } | { readonly problem: string } {
  const { spent } = state.head;
  const { llmCalls, wallClockMs, totalTokens = Infinity, costUsd } = limitsOf(state);
  if (spent.llmCalls - state.unansweredCalls + 1 > llmCalls) {
    return { problem: "the run has no model calls left for it" };
  }
  const leftMs = wallClockMs - workedMs(state.worked, nowMs);
  if (leftMs <= 0) return { problem: "the run has no time left for it" };
  const used = spent.inputTokens + spent.outputTokens;
  if (used + size.inputTokens + size.maxOutputTokens > totalTokens) {
    return { problem: "it may use more tokens than the run has left" };
  }
  const maxMs = Math.min(maxCheckMs, Math.ceil(leftMs));
  if (costUsd === undefined) return { maxMs };
  const { pricing } = model;
  if (pricing === undefined) return { problem: `the model ${model.id} has no price` };
  const prices = worstPrices(pricing, size.inputTokens);
  const worst = inputUsd(prices, size) + (size.maxOutputTokens * prices.output) / 1e6;
  return committedUsd(state) + worst > costUsd
    ? { problem: "it may cost more than the run has left" }
    : { maxMs };
}
