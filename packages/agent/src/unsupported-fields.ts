import type { AgentSpec } from "@reeve/contracts/agent";
import type { Violation } from "@reeve/platform/failure";

/**
 * What a spec can ask for and this version does not do. Each is refused by name, never ignored; a line is deleted when the
 * product honours its field.
 */
const unsupported: readonly (readonly [field: string, asks: (spec: AgentSpec) => boolean])[] = [
  ["planning_enabled", (spec) => spec.planningEnabled],
  ["budget_awareness", (spec) => spec.budgetAwareness !== undefined],
  ["allow_parallel_subagents", (spec) => spec.allowParallelSubagents],
  ["plugin_ids", (spec) => spec.pluginIds.length > 0],
  ["sections", (spec) => Object.keys(spec.sections).length > 0],
  ["context_policy", (spec) => spec.contextPolicy !== undefined],
  ["delegates", (spec) => spec.delegates.length > 0],
  ["endpoint", (spec) => spec.endpoint !== undefined],
  ["deep_agent.planning", (spec) => spec.deepAgent?.planning === true],
  ["budgets.max_depth", (spec) => spec.budgets?.maxDepth !== undefined],
  ["budgets.max_parallel", (spec) => spec.budgets?.maxParallel !== undefined],
  ["budgets.max_subtasks", (spec) => spec.budgets?.maxSubtasks !== undefined],
  ["budgets.max_wall_clock", (spec) => spec.budgets?.maxWallClock !== undefined],
  ["budgets.max_result_bytes", (spec) => spec.budgets?.maxResultBytes !== undefined],
  ["budgets.max_history_tokens", (spec) => spec.budgets?.maxHistoryTokens !== undefined],
  ["budgets.max_total_tokens", (spec) => spec.budgets?.maxTotalTokens !== undefined],
  ["budgets.max_total_bytes", (spec) => spec.budgets?.maxTotalBytes !== undefined],
  ["budgets.max_cost_usd", (spec) => spec.budgets?.maxCostUsd !== undefined],
];

/** Permission classes whose tools this version does not have. */
const unsupportedClasses: ReadonlySet<string> = new Set(["editor_mutate", "subagent", "secrets"]);

export const unsupportedReason = "UNSUPPORTED_CAPABILITY";

/** The fields of `spec` that this version does not honour. */
export function unsupportedFields(spec: AgentSpec): readonly Violation[] {
  const fields = unsupported.filter(([, asks]) => asks(spec)).map(([field]) => field);
  const classes = spec.permissionClasses.flatMap((name, index) =>
    unsupportedClasses.has(name) ? [`permission_classes[${index}]`] : [],
  );
  return [...fields, ...classes].map((field) => ({
    field,
    description: `${field} is not supported by this version; leave it out`,
    reason: unsupportedReason,
  }));
}
