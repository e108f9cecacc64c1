import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Memory } from "@reeve/contracts/memory";
import MiniSearch from "minisearch";
import { wordsOf } from "./words-of.ts";

const halfLifeMs = 30 * 24 * 3_600_000;
/** What age leaves of the weight of a memory at the least: an old fact is still one. */
const oldest = 0.3;

/**
 * The memories that have words of the query in them, best first: by how much the words tell (BM25), and among alike ones
 * the later. The same memories and query at the same time always come in the same order.
 */
export function rankMemories(
  memories: readonly Memory[],
  query: string,
  nowMs: number,
): readonly Memory[] {
  const index = new MiniSearch<{ id: number; text: string }>({
    fields: ["text"],
    tokenize: (text) => [...wordsOf(text)],
    processTerm: (term) => term,
  });
  index.addAll(memories.map(({ text }, id) => ({ id, text })));
  // A common word is in most memories and tells little; the index weighs it so.
  const found = index.search(query, { combineWith: "OR" });
  return found
    .map(({ id, score }) => ({ memory: memories[Number(id)], score }))
    .flatMap(({ memory, score }) =>
      memory === undefined ? [] : [{ memory, weight: score * freshness(memory, nowMs) }],
    )
    .toSorted((a, b) => b.weight - a.weight || (a.memory.memoryId < b.memory.memoryId ? -1 : 1))
    .map(({ memory }) => memory);
}

/** The latest first. */
export function latestFirst(memories: readonly Memory[]): readonly Memory[] {
  return memories.toSorted(
    (a, b) => saidAtMs(b) - saidAtMs(a) || (a.memoryId < b.memoryId ? -1 : 1),
  );
}

function freshness(memory: Memory, nowMs: number): number {
  const ageMs = Math.max(0, nowMs - saidAtMs(memory));
  return oldest + (1 - oldest) * 2 ** (-ageMs / halfLifeMs);
}

function saidAtMs({ updatedAt }: Memory): number {
  return updatedAt === undefined ? 0 : timestampMs(updatedAt);
}
