import type { AgentSpec, Limits, ModelSpec } from "@reeve/contracts/agent";

/**
 * Returns why a model cannot be used under a cap on cost, or undefined when it can. A cap needs an upper bound of the cost of
 * each call before the call is made.
 */
export function priceProblem(
  { maxTokens }: Pick<AgentSpec, "maxTokens">,
  { id, pricing, maxOutputTokens }: ModelSpec,
  { budgets }: Pick<Limits, "budgets">,
): string | undefined {
  if (budgets?.maxCostUsd === undefined) return undefined;
  if (pricing === undefined) {
    return `model "${id}" has no price; none is built in for it, so add one in the model registry, the file of REEVE_MODELS, or remove the cap`;
  }
  return (maxTokens ?? 0) > 0 || maxOutputTokens > 0
    ? undefined
    : `the length of an answer of model "${id}" has no limit; set max_tokens, or max_output_tokens in the model registry`;
}
