import { createHash } from "node:crypto";
import type { Embedder } from "@reeve/knowledge/vectors/embedder";

const dimensions = 256;
const part = 3;

/**
 * Returns an embedder that needs no server, and that always answers the same: it counts the letters of words, three at a time. Words with a
 * common stem, or with a typing error, are close; words with a common meaning are not.
 */
export function hashedEmbedder(model: string): Embedder {
  return {
    model: `scripted:${model}`,
    async embed(texts, signal) {
      signal.throwIfAborted();
      return { vectors: texts.map(vectorOf), tokens: 0, costUsd: 0 };
    },
  };
}

function vectorOf(text: string): readonly number[] {
  const vector = Array.from({ length: dimensions }, () => 0);
  for (const [word] of text.toLowerCase().matchAll(/[\p{L}\p{N}]+/gu)) {
    const padded = `<${word}>`;
    for (let start = 0; start + part <= padded.length; start++) {
      const place = placeOf(padded.slice(start, start + part));
      vector[place] = (vector[place] ?? 0) + 1;
    }
  }
  // A part that occurs often says less than the first time.
  return vector.map(Math.sqrt);
}

const places = new Map<string, number>();
/** About the number of different parts of a few languages. */
const maxPlaces = 50_000;

function placeOf(letters: string): number {
  const known = places.get(letters);
  if (known !== undefined) return known;
  const place = createHash("sha1").update(letters).digest().readUInt32BE() % dimensions;
  if (places.size < maxPlaces) places.set(letters, place);
  return place;
}
