import type { Pricing } from "@reeve/contracts/agent";
import type { ModelUsage } from "./model.ts";

/** The price of a write to a provider's cache, as a multiple of the input price, unless the model has its own. */
const cacheWriteFactor = 1.25;

/** The prices of a model call in US dollars per million tokens. */
export interface CallPrices {
  /** Input tokens that are read afresh. */
  readonly fresh: number;
  /** Input tokens that are read from the cache. */
  readonly cached: number;
  /** Input tokens that are written to the cache. */
  readonly written: number;
  readonly output: number;
}

/** Returns the prices of a call with so many input tokens. Long requests may have other prices. */
export function pricesOf(pricing: Pricing, inputTokens: number): CallPrices {
  const { longRequests } = pricing;
  const prices =
    longRequests.findLast(({ aboveInputTokens }) => inputTokens > aboveInputTokens) ?? pricing;
  const fresh = prices.inputUsdPerMillion;
  return {
    fresh,
    cached: prices.cachedInputUsdPerMillion ?? fresh,
    written: prices.cacheWriteInputUsdPerMillion ?? fresh * cacheWriteFactor,
    output: prices.outputUsdPerMillion,
  };
}

/** Returns the cost of a model call in US dollars. */
export function costOf(usage: ModelUsage, pricing: Pricing): number {
  const { inputTokens, cachedInputTokens, cacheWriteInputTokens, outputTokens } = usage;
  const { fresh, cached, written, output } = pricesOf(pricing, inputTokens);
  return (
    ((inputTokens - cachedInputTokens - cacheWriteInputTokens) * fresh +
      cachedInputTokens * cached +
      cacheWriteInputTokens * written +
      outputTokens * output) /
    1e6
  );
}
