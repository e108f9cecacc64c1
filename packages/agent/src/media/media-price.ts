import type { Limits, ModelSpec } from "@reeve/contracts/agent";
import type { MediaKind } from "./media-kinds.ts";

/** What decides on the cost of a generation before it is made. */
export interface MediaSize {
  /** Number of images. */
  readonly files: number;
  /** Characters of the prompt, or of the text that is spoken. */
  readonly characters: number;
  /** Bytes of the same text, in UTF-8. */
  readonly bytes: number;
}

/** Returns the size of a generation. */
export function mediaSize(files: number, text: string): MediaSize {
  return { files, characters: text.length, bytes: Buffer.byteLength(text) };
}

/** Returns the maximum cost of a generation in US dollars. Undefined: the prices of the model give no bound. */
export function maxMediaUsd(
  kind: MediaKind,
  { pricing, maxOutputTokens }: Pick<ModelSpec, "pricing" | "maxOutputTokens">,
  { files, characters, bytes }: MediaSize,
): number | undefined {
  if (pricing === undefined) return undefined;
  const { usdPerImage, usdPerMillionCharacters } = pricing;
  if (kind === "image" && usdPerImage !== undefined) return usdPerImage * files;
  if (kind === "speech" && usdPerMillionCharacters !== undefined) {
    return (usdPerMillionCharacters * characters) / 1e6;
  }
  if (maxOutputTokens === 0) return undefined;
  // A token has at least one byte. One character may be several tokens.
  const input = bytes * pricing.inputUsdPerMillion;
  return (input + maxOutputTokens * files * pricing.outputUsdPerMillion) / 1e6;
}

/** Returns why a model cannot generate media under a cap on cost. Undefined: it can. */
export function mediaPriceProblem(
  kind: MediaKind,
  model: ModelSpec,
  { budgets }: Pick<Limits, "budgets">,
): string | undefined {
  if (budgets?.maxCostUsd === undefined) return undefined;
  if (maxMediaUsd(kind, model, mediaSize(1, "x")) !== undefined) return undefined;
  const price = kind === "image" ? "usd_per_image" : "usd_per_million_characters";
  return `the cost of model "${model.id}" has no bound; set pricing.${price} in the model registry, the file of REEVE_MODELS, or remove the cap`;
}
