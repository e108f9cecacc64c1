import { setImmediate as turn } from "node:timers/promises";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Memory } from "@reeve/contracts/memory";
import { queryWords, wordsOf } from "./words-of.ts";

const halfLifeMs = 30 * 24 * 3_600_000;
/** What age leaves of the weight of a memory at the least: an old fact is still one. */
const oldest = 0.3;

/** How soon a repeated word says nothing more, and how much the length of a memory counts: the usual values of BM25. */
const saturation = 1.2;
const lengthWeight = 0.75;

/** How many memories are read before others in the process have their turn: some milliseconds at the most. */
const atATime = 20;

/**
 * The memories that have words of the query in them, best first: by how much the words tell (BM25) and how lately they were
 * said, and among alike ones the later. The same memories and query at the same time always come in the same order.
 *
 * Only words of the query are counted, some memories at a time. An index of all words, built anew for each query because
 * any process may have written, would hold up everything else in the process for seconds when somebody has many long ones.
 */
export async function rankMemories(
  memories: readonly Memory[],
  query: string,
  nowMs: number,
  signal: AbortSignal,
): Promise<readonly Memory[]> {
  const wanted = queryWords(query);
  if (wanted.size === 0) return [];
  const counted: Counted[] = [];
  for (const memory of memories) {
    if (counted.length % atATime === 0) await turn();
    signal.throwIfAborted();
    counted.push(countWords(memory, wanted));
  }
  const telling = tellingOf(counted);
  const defaultLength = counted.reduce((sum, { length }) => sum + length, 0) / counted.length;
  return counted
    .filter(({ counts }) => counts.size > 0)
    .map((each) => ({
      memory: each.memory,
      weight: relevance(each, telling, defaultLength) * freshness(each.memory, nowMs),
    }))
    .toSorted((a, b) => b.weight - a.weight || byLatest(a.memory, b.memory))
    .map(({ memory }) => memory);
}

/** The latest first. */
export function latestFirst(memories: readonly Memory[]): readonly Memory[] {
  return memories.toSorted(byLatest);
}

/** When a memory was said last, in milliseconds since the epoch. */
export function updatedAtMs({ updatedAt }: Memory): number {
  return updatedAt === undefined ? 0 : timestampMs(updatedAt);
}

interface Counted {
  readonly memory: Memory;
  /** How many words it has. */
  readonly length: number;
  /** How often it has each word of the query; without those that it has not. */
  readonly counts: ReadonlyMap<string, number>;
}

function countWords(memory: Memory, wanted: ReadonlySet<string>): Counted {
  const words = wordsOf(memory.text);
  const counts = new Map<string, number>();
  for (const word of words) if (wanted.has(word)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return { memory, length: words.length, counts };
}

/** How much each word tells: the fewer memories have it, the more. Always more than nothing. */
function tellingOf(counted: readonly Counted[]): ReadonlyMap<string, number> {
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
  { counts, length }: Counted,
  telling: ReadonlyMap<string, number>,
  defaultLength: number,
): number {
  const damping = saturation * (1 - lengthWeight + (lengthWeight * length) / defaultLength);
  let sum = 0;
  for (const [word, count] of counts) {
    sum += ((telling.get(word) ?? 0) * count * (saturation + 1)) / (count + damping);
  }
  return sum;
}

function freshness(memory: Memory, nowMs: number): number {
  const ageMs = Math.max(0, nowMs - updatedAtMs(memory));
  return oldest + (1 - oldest) * 2 ** (-ageMs / halfLifeMs);
}

function byLatest(a: Memory, b: Memory): number {
  return updatedAtMs(b) - updatedAtMs(a) || (a.memoryId < b.memoryId ? -1 : 1);
}
