import type { MediaKind } from "@reeve/agent/media/media-kinds";
import type { MediaSize } from "@reeve/agent/media/media-price";
import { maxMediaUsd } from "@reeve/agent/media/media-price";
import type { ModelSpec } from "@reeve/contracts/agent";
import { costOf } from "../model/price.ts";

/** What a generation has used. */
export interface MediaUsage extends MediaSize {
  /** Tokens, as the provider reports them. 0: it reports none. */
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/**
 * Returns the cost of a generation in US dollars. A price for each file takes precedence over the prices of tokens. Undefined: it has no
 * price.
 */
export function costOfMedia(
  media: MediaKind,
  model: ModelSpec,
  { inputTokens, outputTokens, ...size }: MediaUsage,
): number | undefined {
  const { pricing } = model;
  if (pricing === undefined) return undefined;
  const { usdPerImage, usdPerMillionCharacters } = pricing;
  if ((media === "image" ? usdPerImage : usdPerMillionCharacters) !== undefined) {
    return maxMediaUsd(media, model, size);
  }
  if (inputTokens + outputTokens === 0) return undefined;
  const uncached = { cachedInputTokens: 0, cacheWriteInputTokens: 0, reasoningTokens: 0 };
  return costOf({ inputTokens, outputTokens, ...uncached }, pricing);
}
