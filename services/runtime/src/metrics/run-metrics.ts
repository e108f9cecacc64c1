import type { RunEvent, ToolResultEvent, Usage } from "@reeve/contracts/run";
import { ToolStatusSchema } from "@reeve/contracts/tool";
import { boundedLabel, counter, gauge, histogram } from "@reeve/platform/telemetry/metrics";
import { toolLabel } from "./tool-label.ts";
import type { Catalogs } from "@reeve/engine/ports/catalogs";

/** The maximum number of model and tool names in labels. Further names are `other`. */
const maxNames = 100;

const active = gauge({
  name: "reeve_runs_active",
  help: "Runs that this worker currently drives, without parked runs.",
});
const toolCalls = counter({
  name: "reeve_tool_calls_total",
  help: "Tool calls with a result, by tool and outcome.",
  labels: ["tool", "outcome"],
});
const toolCallSeconds = histogram({
  name: "reeve_tool_call_duration_seconds",
  help: "Execution time of tools, without the wait in the queue and for approvals. Excludes calls that were not executed.",
  labels: ["tool"],
  buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900],
});
const tokens = counter({
  name: "reeve_model_tokens_total",
  help: "Model tokens by model and kind: `input` and `output`, of which `cached_input`, `cache_write_input`, and `reasoning` are parts.",
  labels: ["model", "kind"],
});
const cost = counter({
  name: "reeve_model_cost_usd_total",
  help: "Cost of model calls in US dollars, for models with a price.",
  labels: ["model"],
});

/** Reports the number of runs that this worker drives. */
export function reportActiveRuns(runs: number): void {
  active.set(runs);
}

/**
 * Returns a function that counts tool calls and model usage from appended events. Tools that are not offered are `other`,
 * because models make up names.
 */
export function runMetrics(catalogs: () => Catalogs): (events: readonly RunEvent[]) => void {
  const labelOf = toolLabel(catalogs, maxNames);
  const modelOf = boundedLabel(maxNames);
  return (events) => {
    for (const { event } of events) {
      if (event.case === "toolResult") countResult(event.value, labelOf);
      else if (event.case === "usage") countUsage(event.value, modelOf(event.value.model));
    }
  };
}

function countResult({ result }: ToolResultEvent, labelOf: (name: string) => string): void {
  // The run that made the call has counted it.
  if ((result?.metadata?.inheritedFrom ?? "") !== "") return;
  const tool = labelOf(result?.name ?? "");
  const status = ToolStatusSchema.value[result?.metadata?.status ?? 0];
  toolCalls.inc({ tool, outcome: status?.localName.toLowerCase() ?? "unspecified" });
  const ranMs = result?.metadata?.executionTimeMs ?? 0;
  if (ranMs > 0) toolCallSeconds.observe({ tool }, ranMs / 1_000);
}

function countUsage(usage: Usage, model: string): void {
  tokens.inc({ model, kind: "input" }, usage.inputTokens);
  tokens.inc({ model, kind: "output" }, usage.outputTokens);
  tokens.inc({ model, kind: "cached_input" }, usage.cachedInputTokens);
  tokens.inc({ model, kind: "cache_write_input" }, usage.cacheWriteInputTokens);
  tokens.inc({ model, kind: "reasoning" }, usage.reasoningTokens);
  if (usage.costUsd !== undefined) cost.inc({ model }, usage.costUsd);
}
