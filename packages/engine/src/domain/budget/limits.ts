import { durationMs } from "@bufbuild/protobuf/wkt";
import type { Budgets } from "@reeve/contracts/agent";
import { workingAgent } from "../delegates/working-agent.ts";
import type { Frame } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";

/** The limits of one run, including all its frames. */
export interface Limits {
  /** Steps per frame. */
  readonly rounds: number;
  /** Depth of nested subtasks. */
  readonly depth: number;
  readonly subtasks: number;
  /** Model calls, including failed attempts. */
  readonly llmCalls: number;
  readonly toolCalls: number;
  /** Calls of one turn, and calls to toolhosts of the whole run, that are in progress at the same time. */
  readonly parallelCalls: number;
  readonly wallClockMs: number;
  /** Bytes of one tool result as the model reads it. */
  readonly resultBytes: number;
  /** Tokens of one conversation. */
  readonly historyTokens: number;
  /** Total tokens, bytes of tool results, and US dollars. Undefined: unlimited. */
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

/** How many attempts of one model call the provider may fail. */
export const maxAttempts = 4;
/** Claims in a row without progress that follow a crash, before the run ends with an error. */
export const maxIdleCrashes = 10;
/** Claims in a row without progress, for whatever reason. It bounds a run that blocks each of its workers. */
export const maxIdleClaims = 100;

/** Returns the limits with which the run was prepared. Older logs have none; then the limits of the agent apply. */
export function limitsOf({ head: { created, prepared } }: RunState): Limits {
  const rounds = prepared?.limits?.maxRounds ?? created?.spec?.maxRounds ?? defaults.rounds;
  return { ...within(prepared?.limits?.budgets ?? created?.spec?.budgets), rounds };
}

/** Returns the limits of the agent that works in a frame, such as its steps. Those of the run hold for all frames together. */
export function frameLimits(state: RunState, frame: Pick<Frame, "delegate">): Limits {
  const { spec, prepared } = workingAgent(state, frame);
  const rounds = prepared?.limits?.maxRounds ?? spec?.maxRounds ?? defaults.rounds;
  return { ...within(prepared?.limits?.budgets ?? spec?.budgets), rounds };
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
