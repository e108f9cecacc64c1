import type { BudgetExceeded } from "@reeve/contracts/run";
import { failRun } from "../end-run.ts";
import type { Fact } from "../state/fact.ts";
import { fact } from "../state/fact.ts";
import type { Frame } from "../state/frame.ts";
import { scopeOf } from "../state/frame.ts";
import { rootOf } from "../state/run-state.ts";
import type { RunState } from "../state/run-state.ts";
import { workedMs } from "../state/worked-time.ts";
import { limitsOf } from "./limits.ts";
import { committedUsd, worstCaseUsd } from "./reserve-cost.ts";

/** A budget of the whole run that is used up. */
export interface ExceededBudget {
  readonly reason:
    "subtasks" | "llm_calls" | "tool_calls" | "wall_clock" | "tokens" | "bytes" | "cost";
  readonly limit: number;
  readonly observed: number;
}

/** What one more call of a model by `frame` would exceed. `promptTokens` is the estimate of what it would read. */
export function exceededBy(
  state: RunState,
  frame: Frame,
  promptTokens: number,
  nowMs: number,
): ExceededBudget | undefined {
  const { spent } = state.head;
  const limits = limitsOf(state);
  const cost = costObserved(state, frame, promptTokens);
  return firstOver([
    ["wall_clock", limits.wallClockMs, workedMs(state.worked, nowMs)],
    ["llm_calls", limits.llmCalls, spent.llmCalls + 1],
    ...totals(state),
    ["cost", limits.costUsd, cost],
  ]);
}

/** What the run has exceeded already, with nothing more done. */
export function exceededTotal(state: RunState): ExceededBudget | undefined {
  return firstOver([...totals(state), ["cost", limitsOf(state).costUsd, committedUsd(state)]]);
}

type Check = readonly [ExceededBudget["reason"], limit: number | undefined, observed: number];

function totals(state: RunState): readonly Check[] {
  const { spent } = state.head;
  const { totalTokens, totalBytes } = limitsOf(state);
  return [
    ["tokens", totalTokens, spent.inputTokens + spent.outputTokens],
    ["bytes", totalBytes, spent.resultBytes],
  ];
}

function firstOver(checks: readonly Check[]): ExceededBudget | undefined {
  for (const [reason, limit, observed] of checks) {
    if (limit !== undefined && observed > limit) return { reason, limit, observed };
  }
  return undefined;
}

function costObserved(state: RunState, frame: Frame, promptTokens: number): number {
  return committedUsd(state) + (worstCaseUsd(state, frame, promptTokens) ?? 0);
}

/**
 * The word that a budget is used up. The end follows from it: what the run did up to then, the refusal of its last calls
 * included, is known once that is told.
 */
export function overBudget(state: RunState, exceeded: ExceededBudget): readonly Fact[] {
  const { reason, limit, observed } = exceeded;
  const value = { reason, limit, observed };
  return [fact(scopeOf(rootOf(state)), { case: "budgetExceeded", value })];
}

/** The facts of a run that ends because a budget is used up. */
export function endOverBudget(
  state: RunState,
  exceeded: Pick<BudgetExceeded, "reason" | "limit" | "observed">,
): readonly Fact[] {
  const message = words.get(exceeded.reason)?.(exceeded) ?? "a budget of the run is used up";
  return failRun(state, scopeOf(rootOf(state)), "budget_exceeded", message);
}

/** What a call reads as its result that is refused because a budget is used up. */
export function budgetRefusal({ reason, limit }: Pick<ExceededBudget, "reason" | "limit">): string {
  return `the run may use ${limit} ${reason.replace("_", " ")} in all, and this would be more`;
}

const counted = (things: string, setting: string) =>
  function words({ limit }: Pick<BudgetExceeded, "limit">): string {
    return `the run may use ${limit} ${things}; raise budgets.${setting} or narrow the task`;
  };

type Words = (exceeded: Pick<BudgetExceeded, "limit" | "observed">) => string;

const words: ReadonlyMap<string, Words> = new Map<ExceededBudget["reason"], Words>([
  ["subtasks", counted("subtasks", "max_subtasks")],
  ["llm_calls", counted("llm calls", "max_llm_calls")],
  ["tool_calls", counted("tool calls", "max_tool_calls")],
  [
    "wall_clock",
    ({ limit }) =>
      `the run may work for ${limit / 1000} s, the time it waits for people excluded; raise budgets.max_wall_clock or narrow the task`,
  ],
  ["tokens", counted("tokens in total", "max_total_tokens")],
  ["bytes", counted("bytes of tool results in total", "max_total_bytes")],
  [
    "cost",
    ({ limit, observed }) =>
      `the run may cost ${limit} USD, and the next call of the model could bring it to ${observed.toFixed(6)} USD; raise budgets.max_cost_usd or narrow the task`,
  ],
]);
