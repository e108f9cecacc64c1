import type { NodeType } from "./node-type.ts";

/**
 * Returns the types whose id, title, or description contains a word of a query, those that contain more of them first, and then in their order.
 * All types, if the query has no words.
 */
export function searchNodeTypes(types: readonly NodeType[], query: string): readonly NodeType[] {
  const words = [...new Set(query.toLowerCase().match(/[\p{L}\p{N}]+/gu))];
  if (words.length === 0) return types;
  const ranked = types.map((type) => ({ type, rank: rankOf(type, words) }));
  return ranked
    .filter(({ rank }) => rank > 0)
    .toSorted((a, b) => b.rank - a.rank)
    .map(({ type }) => type);
}

/** A word in the id counts more than one in the description. */
function rankOf({ id, title, description }: NodeType, words: readonly string[]): number {
  const name = `${id} ${title}`.toLowerCase();
  const about = description.toLowerCase();
  return words.reduce(
    (sum, word) => sum + (name.includes(word) ? 3 : 0) + (about.includes(word) ? 1 : 0),
    0,
  );
}
