import { byteVectors, malformed } from "./byte-vectors.ts";
import type { Embedder } from "./embedder.ts";

/** What one request has at most, so that models with small limits accept it. */
const maxTexts = 64;
const maxCharacters = 48_000;

/** The embeddings of texts. */
export interface EmbeddedTexts {
  readonly model: string;
  readonly dimensions: number;
  /** The vectors, one after another. */
  readonly values: Int8Array;
  readonly tokens: number;
  readonly costUsd: number | undefined;
}

/** Embeds any number of texts, some at a time. Throws a Failure if one of the requests fails. */
export async function embedTexts(
  embedder: Embedder,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<EmbeddedTexts> {
  const parts: Int8Array[] = [];
  let dimensions: number | undefined;
  let tokens = 0;
  let costUsd: number | undefined = 0;
  for (const batch of batchesOf(texts)) {
    signal.throwIfAborted();
    const embedded = await embedder.embed(batch, signal);
    if (embedded.vectors.length !== batch.length) {
      throw malformed(`${embedded.vectors.length} vectors for ${batch.length} texts`);
    }
    // At once: numbers take eight times as much memory.
    const part = byteVectors(embedded.vectors);
    const length = part.length / batch.length;
    if (dimensions !== undefined && dimensions !== length) {
      throw malformed(`vectors of ${dimensions} values, and of ${length}`);
    }
    dimensions = length;
    parts.push(part);
    tokens += embedded.tokens;
    costUsd =
      costUsd === undefined || embedded.costUsd === undefined
        ? undefined
        : costUsd + embedded.costUsd;
  }
  return {
    model: embedder.model,
    dimensions: dimensions ?? 0,
    values: joined(parts),
    tokens,
    costUsd,
  };
}

function joined(parts: readonly Int8Array[]): Int8Array {
  const all = new Int8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let start = 0;
  for (const part of parts) {
    all.set(part, start);
    start += part.length;
  }
  return all;
}

function* batchesOf(texts: readonly string[]): Iterable<readonly string[]> {
  let batch: string[] = [];
  let characters = 0;
  for (const text of texts) {
    const isFull = batch.length === maxTexts || characters + text.length > maxCharacters;
    if (isFull && batch.length > 0) {
      yield batch;
      batch = [];
      characters = 0;
    }
    batch.push(text);
    characters += text.length;
  }
  if (batch.length > 0) yield batch;
}
