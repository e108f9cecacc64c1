import type { RunModel } from "./run-model.ts";

/** How much of a budget is used. */
export interface BudgetUse {
  readonly name: string;
  readonly used: number;
  readonly max: number;
  readonly isCost?: true;
}

/** The budgets of a run that sets none, as the contract of agents documents them. */
const defaults = { maxLlmCalls: 60, maxToolCalls: 200, maxSubtasks: 32 };
const defaultWorkMs = 180_000;

/** Returns the budgets of a run with what is used of each. Empty until the run is prepared. */
export function budgetUse({
  prepared,
  usage,
  cost,
  calls,
  frames,
}: RunModel): readonly BudgetUse[] {
  if (prepared === undefined) return [];
  const budgets = prepared.limits?.budgets;
  const { maxLlmCalls, maxToolCalls, maxSubtasks } = { ...defaults, ...budgets };
  const subtasks = [...frames.values()].filter(({ kind }) => kind === "subtask").length;
  const tokens =
    (cost?.inputTokens ?? usage.inputTokens) + (cost?.outputTokens ?? usage.outputTokens);
  const all = [
    {
      name: "cost",
      used: cost?.costUsd ?? usage.costUsd,
      max: budgets?.maxCostUsd,
      isCost: true as const,
    },
    { name: "model calls", used: cost?.llmCalls ?? usage.modelCalls, max: maxLlmCalls },
    { name: "tool calls", used: cost?.toolCalls ?? calls.size, max: maxToolCalls },
    { name: "subtasks", used: cost?.subtasks ?? subtasks, max: maxSubtasks },
    { name: "tokens", used: tokens, max: budgets?.maxTotalTokens },
  ];
  return all.flatMap(({ max, ...use }) => (max === undefined ? [] : [{ ...use, max }]));
}

/** Returns the longest time that the run may work, in milliseconds. */
export function maxWorkMs({ prepared }: RunModel): number {
  const limit = prepared?.limits?.budgets?.maxWallClock;
  return limit === undefined
    ? defaultWorkMs
    : Number(limit.seconds) * 1_000 + limit.nanos / 1_000_000;
}
