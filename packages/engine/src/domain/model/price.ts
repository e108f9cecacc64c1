import type { Pricing } from "@reeve/contracts/agent";
import type { ModelUsage } from "./model.ts";

/** The price of a write to a provider's cache, as a multiple of the input price, unless the model has its own. */
const cacheWriteFactor = 1.25;

/** Returns the prices of input tokens in US dollars per million: those read afresh, from the cache, and written to it. */
export function inputPrices(pricing: Pricing): {
  readonly fresh: number;
  readonly cached: number;
  readonly written: number;
} {
  const fresh = pricing.inputUsdPerMillion;
  return {
    fresh,
    cached: pricing.cachedInputUsdPerMillion ?? fresh,
    written: pricing.cacheWriteInputUsdPerMillion ?? fresh * cacheWriteFactor,
  };
}

/** Returns the cost of a model call in US dollars. */
export function costOf(usage: ModelUsage, pricing: Pricing): number {
  const { inputTokens, cachedInputTokens, cacheWriteInputTokens, outputTokens } = usage;
  const { fresh, cached, written } = inputPrices(pricing);
  return (
    ((inputTokens - cachedInputTokens - cacheWriteInputTokens) * fresh +
      cachedInputTokens * cached +
      cacheWriteInputTokens * written +
      outputTokens * pricing.outputUsdPerMillion) /
    1e6
  );
}
