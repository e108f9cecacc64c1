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
  const vectors: (readonly number[])[] = [];
  let tokens = 0;
  let costUsd: number | undefined = 0;
  for (const batch of batchesOf(texts)) {
    signal.throwIfAborted();
    const embedded = await embedder.embed(batch, signal);
    if (embedded.vectors.length !== batch.length) {
      throw malformed(`${embedded.vectors.length} vectors for ${batch.length} texts`);
    }
    vectors.push(...embedded.vectors);
    tokens += embedded.tokens;
    costUsd =
      costUsd === undefined || embedded.costUsd === undefined
        ? undefined
        : costUsd + embedded.costUsd;
  }
  const values = byteVectors(vectors);
  const dimensions = values.length / texts.length;
  return { model: embedder.model, dimensions, values, tokens, costUsd };
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
