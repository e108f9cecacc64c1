/** The usual constant: a hit at the top of one list counts as much as one in the middle of both. */
const constant = 60;

/** A member of several rankings, and the sum of its reciprocal ranks. */
export interface Fused<Item> {
  readonly item: Item;
  readonly score: number;
}

/**
 * Fuses rankings by reciprocal ranks, best first: scores of different kinds cannot be compared, and ranks can. `keyOf` says which members
 * of two rankings are the same; the first ranking with a member decides which of equal scores comes first.
 */
export function fuseRanks<Item>(
  rankings: readonly (readonly Item[])[],
  keyOf: (item: Item) => string,
): readonly Fused<Item>[] {
  const fused = new Map<string, { item: Item; score: number }>();
  for (const ranking of rankings) {
    for (const [rank, item] of ranking.entries()) {
      const key = keyOf(item);
      const known = fused.get(key) ?? { item, score: 0 };
      known.score += 1 / (constant + rank + 1);
      fused.set(key, known);
    }
  }
  return [...fused.values()].toSorted((a, b) => b.score - a.score);
}
