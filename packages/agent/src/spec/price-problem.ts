import type { AgentSpec, Limits, ModelSpec } from "@reeve/contracts/agent";

/** Why nothing can be called under a cap on cost whose price cannot be reckoned beforehand; undefined: it can be. */
export function priceProblem(
  { maxTokens }: Pick<AgentSpec, "maxTokens">,
  { id, pricing, maxOutputTokens }: ModelSpec,
  { budgets }: Limits,
): string | undefined {
  if (budgets?.maxCostUsd === undefined) return undefined;
  if (pricing === undefined) {
    return `model "${id}" has no price; give it one in the registry of models, or take the cap away`;
  }
  return (maxTokens ?? 0) > 0 || maxOutputTokens > 0
    ? undefined
    : `nothing says how long an answer of model "${id}" may be; set max_tokens, or max_output_tokens in the registry of models`;
}
