import type { RunState } from "./run-state.ts";

/** The limits of one run. */
export interface Limits {
  /** Steps of a frame. */
  readonly rounds: number;
  /** Calls of models, attempts that failed included. */
  readonly llmCalls: number;
  readonly toolCalls: number;
  /** Calls that run at once. */
  readonly parallelCalls: number;
  /** Attempts to have one turn answered. */
  readonly modelAttempts: number;
  /** Claims in a row without progress before the run is given up. */
  readonly idleClaims: number;
  /** Bytes of a tool result that the model reads. */
  readonly resultBytes: number;
}

const defaults: Limits = {
  rounds: 20,
  llmCalls: 60,
  toolCalls: 200,
  parallelCalls: 8,
  modelAttempts: 4,
  idleClaims: 10,
  resultBytes: 50_000,
};

/** The limits of the run: the product's own, as far as its agent does not set others. */
export function limitsOf({ created }: RunState): Limits {
  const spec = created?.spec;
  return {
    ...defaults,
    rounds: spec?.maxRounds ?? defaults.rounds,
    llmCalls: spec?.budgets?.maxLlmCalls ?? defaults.llmCalls,
    toolCalls: spec?.budgets?.maxToolCalls ?? defaults.toolCalls,
  };
}
