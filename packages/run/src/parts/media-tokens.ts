import { tokensIn } from "@reeve/agent/text/count-tokens";
import { modalityOf } from "@reeve/contracts/content/media";
import type { ContentPart, FilePart } from "@reeve/contracts/content/parts";

/** Returns an estimate of the tokens of parts. */
export function partsTokens(parts: readonly ContentPart[]): number {
  return parts.reduce((sum, { part }) => {
    if (part.case === "text") return sum + tokensIn(part.value);
    return part.case === "file" ? sum + fileTokens(part.value) : sum;
  }, 0);
}

/**
 * Returns the tokens of a file. For an image it is at most what any API counts by its published rules: the name of a provider does not tell its
 * API, and a budget reserves this. For documents and audio it is an estimate by their size, and no bound: a PDF may have more pages than its size
 * suggests, and audio a lower bit rate. Once a provider has reported the size of a conversation, that counts instead.
 */
export function fileTokens(file: FilePart): number {
  switch (modalityOf(file.mediaType)) {
    case "image":
      return Math.max(anthropicImage(file), openaiImage(file));
    case "audio":
      // Ten tokens a second, at 32 kbit/s.
      return Math.max(100, Math.ceil(file.sizeBytes / 400));
    case "pdf":
      // About 3,000 tokens a page of 60 kB.
      return Math.max(3_000, Math.ceil(file.sizeBytes / 20));
    case "text":
    case undefined:
      return 0;
  }
}

/** A token for 750 pixels, after Anthropic has reduced the image. */
const maxAnthropicTokens = 4_784;

function anthropicImage({ width, height }: FilePart): number {
  return Math.min(maxAnthropicTokens, Math.ceil((width * height) / 750));
}

/** The two rules of OpenAI: tiles of 512 pixels for some models, patches of 32 pixels with a factor for the others. */
const tile = { base: 85, each: 170, edge: 512, maxLong: 2_048, maxShort: 768 };
const patch = { edge: 32, max: 1_536, factor: 2.46 };

function openaiImage({ width, height }: FilePart): number {
  const reduced = scaledTo(
    scaledTo({ width, height }, tile.maxLong, Math.max),
    tile.maxShort,
    Math.min,
  );
  const tiles = Math.ceil(reduced.width / tile.edge) * Math.ceil(reduced.height / tile.edge);
  const patches = Math.ceil(width / patch.edge) * Math.ceil(height / patch.edge);
  const byPatches = Math.ceil(Math.min(patches, patch.max) * patch.factor);
  return Math.max(tile.base + tile.each * tiles, byPatches);
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Reduces a size so that its longer or shorter side has at most `max` pixels. */
function scaledTo(
  { width, height }: Size,
  max: number,
  side: (a: number, b: number) => number,
): Size {
  const factor = Math.min(1, max / Math.max(1, side(width, height)));
  return { width: width * factor, height: height * factor };
}
