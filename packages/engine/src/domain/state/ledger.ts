import type { RunEvent, Usage } from "@reeve/contracts/run";

/** What a run has used so far, all its frames together. */
export interface Ledger {
  readonly llmCalls: number;
  readonly toolCalls: number;
  readonly subtasks: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Bytes of the results that models were given. */
  readonly resultBytes: number;
  /** US dollars; undefined once a model without a price was called. */
  readonly costUsd: number | undefined;
  /** US dollars that were reserved for calls of which usage nobody will ever tell: those that were lost, or failed while they spoke. */
  readonly lostUsd: number;
}

export const emptyLedger: Ledger = {
  llmCalls: 0,
  toolCalls: 0,
  subtasks: 0,
  inputTokens: 0,
  outputTokens: 0,
  resultBytes: 0,
  costUsd: 0,
  lostUsd: 0,
};

/** The ledger after one more event. */
export function charge(spent: Ledger, { event }: RunEvent): Ledger {
  switch (event.case) {
    case "modelCallStarted":
      return { ...spent, llmCalls: spent.llmCalls + 1 };
    case "toolCall":
      return { ...spent, toolCalls: spent.toolCalls + 1 };
    case "subtask":
      return event.value.ended ? spent : { ...spent, subtasks: spent.subtasks + 1 };
    case "toolResult": {
      const bytes = encoder.encode(event.value.result?.content ?? "").length;
      return { ...spent, resultBytes: spent.resultBytes + bytes };
    }
    case "usage":
      return chargeUsage(spent, event.value);
    default:
      return spent;
  }
}

function chargeUsage(spent: Ledger, usage: Usage): Ledger {
  return {
    ...spent,
    inputTokens: spent.inputTokens + usage.inputTokens,
    outputTokens: spent.outputTokens + usage.outputTokens,
    costUsd:
      spent.costUsd === undefined || usage.costUsd === undefined
        ? undefined
        : spent.costUsd + usage.costUsd,
  };
}

const encoder = new TextEncoder();
