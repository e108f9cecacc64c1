import { setImmediate as yieldTurn } from "node:timers/promises";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Memory } from "@reeve/contracts/memory";
import { queryWords, wordsOf } from "./words-of.ts";

const halfLifeMs = 30 * 24 * 3_600_000;
/** The least share of its weight that a memory keeps, however old it is: an old fact is still a fact. */
const minFreshness = 0.3;

/** How soon repetitions of a word stop counting, and how much the length of a memory counts: the standard values of BM25. */
const saturation = 1.2;
const lengthWeight = 0.75;

/** How many memories are read before other work in the process gets a turn: a few milliseconds at most. */
const batchSize = 20;

/**
 * Returns the memories that contain words of the query, best first: by relevance of the words (BM25) and by age, and among equal
 * ones the later first. The same memories, query, and time always give the same order.
 *
 * Counts only words of the query, a few memories at a time. An index of all words would have to be built for each query, because
 * any process may have written, and would block the process for seconds when a user has many long memories.
 */
export async function rankMemories(
  memories: readonly Memory[],
  query: string,
  nowMs: number,
  signal: AbortSignal,
): Promise<readonly Memory[]> {
  const queried = queryWords(query);
  if (queried.size === 0) return [];
  const counted: WordCounts[] = [];
  for (const memory of memories) {
    if (counted.length % batchSize === 0) await yieldTurn();
    signal.throwIfAborted();
    counted.push(countWords(memory, queried));
  }
  const weights = weightsOf(counted);
  const meanLength = counted.reduce((sum, { length }) => sum + length, 0) / counted.length;
  return counted
    .filter(({ counts }) => counts.size > 0)
    .map((each) => ({
      memory: each.memory,
      weight: relevance(each, weights, meanLength) * freshness(each.memory, nowMs),
    }))
    .toSorted((a, b) => b.weight - a.weight || byLatest(a.memory, b.memory))
    .map(({ memory }) => memory);
}

/** Returns the memories ordered by their last update, the latest first. */
export function latestFirst(memories: readonly Memory[]): readonly Memory[] {
  return memories.toSorted(byLatest);
}

/** Returns when a memory was stored last, in milliseconds since the epoch. */
export function updatedAtMs({ updatedAt }: Memory): number {
  return updatedAt === undefined ? 0 : timestampMs(updatedAt);
}

/** How many times a memory has the words of a query. */
interface WordCounts {
  readonly memory: Memory;
  /** How many words the memory has. */
  readonly length: number;
  /** How many times it has each word of the query. Words that it does not have are absent. */
  readonly counts: ReadonlyMap<string, number>;
}

function countWords(memory: Memory, queried: ReadonlySet<string>): WordCounts {
  const words = wordsOf(memory.text);
  const counts = new Map<string, number>();
  for (const word of words) if (queried.has(word)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return { memory, length: words.length, counts };
}

/** Returns the weight of each word: the fewer memories have it, the higher. Always positive. */
function weightsOf(counted: readonly WordCounts[]): ReadonlyMap<string, number> {
  const holders = new Map<string, number>();
  for (const { counts } of counted) {
    for (const word of counts.keys()) holders.set(word, (holders.get(word) ?? 0) + 1);
  }
  return new Map(
    [...holders].map(([word, count]) => [
      word,
      Math.log(1 + (counted.length - count + 0.5) / (count + 0.5)),
    ]),
  );
}

function relevance(
  { counts, length }: WordCounts,
  weights: ReadonlyMap<string, number>,
  meanLength: number,
): number {
  const damping = saturation * (1 - lengthWeight + (lengthWeight * length) / meanLength);
  let sum = 0;
  for (const [word, count] of counts) {
    sum += ((weights.get(word) ?? 0) * count * (saturation + 1)) / (count + damping);
  }
  return sum;
}

function freshness(memory: Memory, nowMs: number): number {
  const ageMs = Math.max(0, nowMs - updatedAtMs(memory));
  return minFreshness + (1 - minFreshness) * 2 ** (-ageMs / halfLifeMs);
}

function byLatest(a: Memory, b: Memory): number {
  return updatedAtMs(b) - updatedAtMs(a) || (a.memoryId < b.memoryId ? -1 : 1);
}
