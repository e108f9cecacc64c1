import { Failure } from "@reeve/platform/failure";
import { byteVectors, malformed } from "./byte-vectors.ts";
import type { Embedder, Embeddings } from "./embedder.ts";

/** What one request has at most, so that models with small limits accept it. */
const maxTexts = 64;
const maxCharacters = 48_000;
/** A model that refuses more texts refuses the document. Each costs about twelve requests. */
const maxRefused = 8;

/** The embeddings of texts. */
export interface EmbeddedTexts {
  readonly model: string;
  readonly dimensions: number;
  /** The vectors, one after another. */
  readonly values: Int8Array;
  readonly tokens: number;
  readonly costUsd: number | undefined;
  /** How many of the texts the model refuses. */
  readonly refused: number;
}

interface EmbedOptions {
  readonly signal: AbortSignal;
  /** How long the answer to each request may take. Default: that of the embedder. */
  readonly maxWaitMs?: number;
}

/**
 * Embeds any number of texts, some at a time. A few texts that the model refuses get a vector without a direction, which is similar to
 * nothing. Throws a Failure if it refuses more, or all of them, or if one of the requests fails otherwise.
 */
export async function embedTexts(
  embedder: Embedder,
  texts: readonly string[],
  { signal, maxWaitMs }: EmbedOptions,
): Promise<EmbeddedTexts> {
  const parts: (Int8Array | undefined)[] = [];
  let dimensions: number | undefined;
  let tokens = 0;
  let costUsd: number | undefined = 0;
  let refused = 0;
  const embed = async (batch: readonly string[]): Promise<void> => {
    signal.throwIfAborted();
    let embedded: Embeddings;
    try {
      embedded = await embedder.embed(batch, signal, maxWaitMs);
    } catch (error) {
      if (!(error instanceof Failure && error.kind === "invalid")) throw error;
      if (batch.length > 1) {
        const middle = Math.ceil(batch.length / 2);
        await embed(batch.slice(0, middle));
        return await embed(batch.slice(middle));
      }
      refused += 1;
      parts.push(undefined);
      if (refused === texts.length || refused > maxRefused) throw error;
      return;
    }
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
  };
  for (const batch of batchesOf(texts)) await embed(batch);
  const none = new Int8Array(dimensions ?? 0);
  return {
    model: embedder.model,
    dimensions: dimensions ?? 0,
    values: joined(parts.map((part) => part ?? none)),
    tokens,
    costUsd,
    refused,
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
