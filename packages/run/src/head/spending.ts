import { create } from "@bufbuild/protobuf";
import type { CostSummary, RunEvent, Usage } from "@reeve/contracts/run";
import { CostSummarySchema } from "@reeve/contracts/run";

/** What a run has cost that has done nothing yet. */
export const noSpending: CostSummary = create(CostSummarySchema, { costUsd: 0 });

/** What a run has cost after one more event: all its frames together, calls without an answer included. */
export function spentAfter(spent: CostSummary, { event }: RunEvent): CostSummary {
  switch (event.case) {
    case "modelCallStarted":
      return { ...spent, llmCalls: spent.llmCalls + 1 };
    case "toolCall":
      return { ...spent, toolCalls: spent.toolCalls + 1 };
    case "subtask":
      return event.value.ended ? spent : { ...spent, subtasks: spent.subtasks + 1 };
    case "usage":
      return charged(spent, event.value);
    default:
      return spent;
  }
}

function charged({ costUsd: before, ...spent }: CostSummary, usage: Usage): CostSummary {
  const { costUsd } = usage;
  return {
    ...spent,
    inputTokens: spent.inputTokens + usage.inputTokens,
    outputTokens: spent.outputTokens + usage.outputTokens,
    ...(before !== undefined && costUsd !== undefined && { costUsd: before + costUsd }),
  };
}
