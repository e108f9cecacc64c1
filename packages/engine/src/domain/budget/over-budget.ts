import type { BudgetExceeded } from "@reeve/contracts/run";
import { newReviewUsage } from "@reeve/run/head/ledger";
import { oldestFirst } from "@reeve/run/head/linked";
import { failFrame } from "../end-frame.ts";
import { failRun } from "../end-run.ts";
import type { Fact } from "../state/fact.ts";
import { fact } from "../state/fact.ts";
import type { Frame } from "../state/frame.ts";
import { scopeOf } from "../state/frame.ts";
import { rootOf } from "../state/run-state.ts";
import type { RunState } from "../state/run-state.ts";
import { workedMs } from "../state/worked-time.ts";
import { delegateBudgets } from "./delegate-budget.ts";
import { limitsOf } from "./limits.ts";
import type { CallSize } from "./worst-case.ts";
import { committedWithoutReviewUsd, reviewUsd } from "./reserve-cost.ts";
import { dueReviewSize } from "./review-size.ts";
import { worstCaseUsd } from "./worst-case.ts";

/** A budget that is exceeded: of the whole run, or of a delegate. */
export interface ExceededBudget {
  readonly reason:
    | "subtasks"
    | "llm_calls"
    | "tool_calls"
    | "wall_clock"
    | "tokens"
    | "bytes"
    | "cost";
  readonly limit: number;
  readonly observed: number;
  /** The frame that ends because a budget of its delegate is exceeded. Absent: a budget of the whole run is. */
  readonly ends?: { readonly frame: Frame; readonly agentId: string };
  /** Whether only the review in progress stands in the way, which may use less than is reserved for it. */
  readonly untilReview?: boolean;
}

/** Returns the budget that one more model call of `frame` would exceed, with what is reserved for the review in progress. */
export function exceededBy(
  state: RunState,
  frame: Frame,
  size: CallSize,
  nowMs: number,
): ExceededBudget | undefined {
  const limits = limitsOf(state);
  const calls = state.head.spent.llmCalls - state.unansweredCalls + 1;
  const cost = committedWithoutReviewUsd(state) + (worstCaseUsd(state, frame, size) ?? 0);
  const exceededWith = (review: Reserved) =>
    firstOver([
      ["wall_clock", limits.wallClockMs, workedMs(state.worked, nowMs)],
      ["llm_calls", limits.llmCalls, calls + review.calls],
      ...totals(state, review.tokens),
      ["cost", limits.costUsd, cost + review.usd],
    ]);
  const exceeded =
    exceededWith({ calls: 0, tokens: 0, usd: 0 }) ?? exceededByDelegate(state, frame, size, nowMs);
  const review = exceeded === undefined ? dueReviewSize(state)?.size : undefined;
  if (review === undefined) return exceeded;
  const tokens = review.inputTokens + review.maxOutputTokens;
  const reserved = exceededWith({ calls: 1, tokens, usd: reviewUsd(state) });
  return reserved && { ...reserved, untilReview: true };
}

/** Returns the budget of a delegate that one more model call of its frame would exceed. */
function exceededByDelegate(
  state: RunState,
  frame: Frame,
  size: CallSize,
  nowMs: number,
): ExceededBudget | undefined {
  return overDelegate(state, frame, nowMs, {
    llmCalls: 1,
    toolCalls: 0,
    usd: () => worstCaseUsd(state, frame, size) ?? 0,
  });
}

/** Returns the budget of a delegate that one more call of a node of its workflow would exceed. */
export function exceededDelegate(
  state: RunState,
  frame: Frame,
  nowMs: number,
): ExceededBudget | undefined {
  return overDelegate(state, frame, nowMs, { llmCalls: 0, toolCalls: 1, usd: () => 0 });
}

/** What a delegate is about to use. */
interface Next {
  readonly llmCalls: number;
  readonly toolCalls: number;
  readonly usd: () => number;
}

function overDelegate(
  state: RunState,
  frame: Frame,
  nowMs: number,
  next: Next,
): ExceededBudget | undefined {
  for (const budget of delegateBudgets(state, frame)) {
    const { agentId, limits } = budget;
    const costUsd = limits.costUsd === undefined ? 0 : budget.committedUsd() + next.usd();
    const exceeded = firstOver([
      ["wall_clock", budget.maxWorkMs, budget.workedMs(nowMs)],
      ["llm_calls", limits.llmCalls, budget.llmCalls + next.llmCalls],
      ["tool_calls", limits.toolCalls, budget.toolCalls + next.toolCalls],
      ["tokens", limits.totalTokens, budget.tokens],
      ["bytes", limits.totalBytes, budget.resultBytes],
      ["cost", limits.costUsd, costUsd],
    ]);
    if (exceeded !== undefined) return { ...exceeded, ends: { frame, agentId } };
  }
  return undefined;
}

/** What is reserved for the review in progress, or what reviews have used. */
interface Reserved {
  readonly calls: number;
  readonly tokens: number;
  readonly usd: number;
}

/**
 * Returns the budget that the run has exceeded already. What its reviews have used is left out: advice must not refuse a call that a person may
 * be about to approve. The next model call counts it.
 */
export function exceededTotal(state: RunState): ExceededBudget | undefined {
  const { costUsd } = limitsOf(state);
  const total = (reviews: Reserved) =>
    firstOver([
      ...totals(state, -reviews.tokens),
      ["cost", costUsd, committedWithoutReviewUsd(state) - reviews.usd],
    ]);
  const exceeded = total({ calls: 0, tokens: 0, usd: 0 });
  return exceeded === undefined ? undefined : total(usedByReviews(state));
}

/** Returns the budget of the run that is exceeded before a workflow continues. */
export function exceededWork(state: RunState, nowMs: number): ExceededBudget | undefined {
  const { wallClockMs } = limitsOf(state);
  return (
    firstOver([["wall_clock", wallClockMs, workedMs(state.worked, nowMs)]]) ?? exceededTotal(state)
  );
}

function usedByReviews({ head: { approvals } }: RunState): Reserved {
  let used = { calls: 0, tokens: 0, usd: 0 };
  for (const { inputTokens, outputTokens, costUsd = 0 } of oldestFirst(approvals).flatMap(
    newReviewUsage,
  )) {
    const tokens = used.tokens + inputTokens + outputTokens;
    used = { calls: used.calls + 1, tokens, usd: used.usd + costUsd };
  }
  return used;
}

type Check = readonly [ExceededBudget["reason"], limit: number | undefined, observed: number];

function totals(state: RunState, reservedTokens = 0): readonly Check[] {
  const { spent } = state.head;
  const { totalTokens, totalBytes } = limitsOf(state);
  return [
    ["tokens", totalTokens, spent.inputTokens + spent.outputTokens + reservedTokens],
    ["bytes", totalBytes, spent.resultBytes],
  ];
}

function firstOver(checks: readonly Check[]): ExceededBudget | undefined {
  for (const [reason, limit, observed] of checks) {
    if (limit !== undefined && observed > limit) return { reason, limit, observed };
  }
  return undefined;
}

/**
 * Returns the fact that a budget of the run is exceeded, or the end of a frame whose delegate has exceeded one. The end of the run
 * follows from the fact, after the refusals of the last calls, so that its summary includes them. None while a review stands in the
 * way: the model call waits for its end, and is checked again.
 */
export function overBudget(state: RunState, exceeded: ExceededBudget): readonly Fact[] {
  const { reason, limit, observed, ends, untilReview = false } = exceeded;
  if (untilReview) return [];
  if (ends !== undefined) {
    const message = delegateRefusal(ends.agentId, exceeded);
    return failFrame(state, ends.frame, "budget_exceeded", message);
  }
  const value = { reason, limit, observed };
  return [fact(scopeOf(rootOf(state)), { case: "budgetExceeded", value })];
}

/** Returns the facts that end a run because a budget is exceeded. */
export function endOverBudget(
  state: RunState,
  exceeded: Pick<BudgetExceeded, "reason" | "limit" | "observed">,
): readonly Fact[] {
  const message = messages.get(exceeded.reason)?.(exceeded) ?? "a budget of the run is exceeded";
  return failRun(state, scopeOf(rootOf(state)), "budget_exceeded", message);
}

/** Returns the result of a call that is refused because a budget is exceeded. */
export function budgetRefusal({ reason, limit }: Pick<ExceededBudget, "reason" | "limit">): string {
  return `the run may use ${limit} ${reason.replace("_", " ")} in all, and this would be more`;
}

/** Returns why a delegate does no more. */
export function delegateRefusal(
  agentId: string,
  { reason, limit }: Pick<ExceededBudget, "reason" | "limit">,
): string {
  if (reason === "wall_clock") {
    return `a call of the agent "${agentId}" may work for ${limit / 1_000} s, not counting the time it waits for people and failing providers; raise budgets.max_wall_clock of the agent, or give it less to do`;
  }
  const what = reason === "cost" ? "USD" : reason.replace("_", " ");
  return `a call of the agent "${agentId}" may use ${limit} ${what}, and this would be more; raise the budgets of the agent, or give it less to do`;
}

/** Whether the content of a result is that of `budgetRefusal`. */
export function isBudgetRefusal(content: string): boolean {
  return /^the run may use \S+ [a-z ]+ in all, and this would be more$/.test(content);
}

const counted = (things: string, setting: string) =>
  function message({ limit }: Pick<BudgetExceeded, "limit">): string {
    return `the run may use ${limit} ${things}; raise budgets.${setting} or narrow the task`;
  };

type MessageOf = (exceeded: Pick<BudgetExceeded, "limit" | "observed">) => string;

const messages: ReadonlyMap<string, MessageOf> = new Map<ExceededBudget["reason"], MessageOf>([
  ["subtasks", counted("subtasks", "max_subtasks")],
  ["llm_calls", counted("llm calls", "max_llm_calls")],
  ["tool_calls", counted("tool calls", "max_tool_calls")],
  [
    "wall_clock",
    ({ limit }) =>
      `the run may work for ${limit / 1000} s, not counting the time it waits for people and failing providers; raise budgets.max_wall_clock or narrow the task`,
  ],
  ["tokens", counted("tokens in total", "max_total_tokens")],
  ["bytes", counted("bytes of tool results in total", "max_total_bytes")],
  [
    "cost",
    ({ limit, observed }) =>
      `the run may cost ${limit} USD, and the next call of the model could bring it to ${observed.toFixed(6)} USD; raise budgets.max_cost_usd or narrow the task`,
  ],
]);
