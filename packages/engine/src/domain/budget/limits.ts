import { durationMs } from "@bufbuild/protobuf/wkt";
import type { Budgets } from "@reeve/contracts/agent";
import type { RunState } from "../state/run-state.ts";

/** The limits of one run, all its frames together. */
export interface Limits {
  /** Steps of a frame. */
  readonly rounds: number;
  /** Depth of subtasks. */
  readonly depth: number;
  readonly subtasks: number;
  /** Calls of models, attempts that failed included. */
  readonly llmCalls: number;
  readonly toolCalls: number;
  /** Calls of a turn that run at once, and calls of toolhosts that the whole run has under way. */
  readonly parallelCalls: number;
  readonly wallClockMs: number;
  /** Bytes of a tool result that a model reads. */
  readonly resultBytes: number;
  /** Tokens of a conversation. */
  readonly historyTokens: number;
  /** Tokens, bytes of results, and US dollars in total; undefined: unlimited. */
  readonly totalTokens: number | undefined;
  readonly totalBytes: number | undefined;
  readonly costUsd: number | undefined;
}

export const defaultHistoryTokens = 128_000;

const defaults: Limits = {
  rounds: 20,
  depth: 3,
  subtasks: 32,
  llmCalls: 60,
  toolCalls: 200,
  parallelCalls: 8,
  wallClockMs: 180_000,
  resultBytes: 50_000,
  historyTokens: defaultHistoryTokens,
  totalTokens: undefined,
  totalBytes: undefined,
  costUsd: undefined,
};

/** Attempts to have one turn answered that the provider may fail. */
export const maxAttempts = 4;
/** Claims in a row without progress before a run is given up. */
export const maxIdleClaims = 10;

/** The limits of the run: those it was prepared with; the agent's own in a log that is older than that. */
export function limitsOf({ head: { created, prepared } }: RunState): Limits {
  const rounds = prepared?.limits?.maxRounds ?? created?.spec?.maxRounds ?? defaults.rounds;
  return { ...within(prepared?.limits?.budgets ?? created?.spec?.budgets), rounds };
}

function within(budgets: Budgets | undefined): Limits {
  if (budgets === undefined) return defaults;
  const wallClock = budgets.maxWallClock;
  return {
    rounds: defaults.rounds,
    depth: budgets.maxDepth ?? defaults.depth,
    subtasks: budgets.maxSubtasks ?? defaults.subtasks,
    llmCalls: budgets.maxLlmCalls ?? defaults.llmCalls,
    toolCalls: budgets.maxToolCalls ?? defaults.toolCalls,
    parallelCalls: budgets.maxParallel ?? defaults.parallelCalls,
    wallClockMs: wallClock === undefined ? defaults.wallClockMs : durationMs(wallClock),
    resultBytes: budgets.maxResultBytes ?? defaults.resultBytes,
    historyTokens: budgets.maxHistoryTokens ?? defaults.historyTokens,
    totalTokens: budgets.maxTotalTokens,
    totalBytes: budgets.maxTotalBytes,
    costUsd: budgets.maxCostUsd,
  };
}
