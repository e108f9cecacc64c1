/** Pseudorandom choices: the same seed and the same calls in the same order give the same results. */
export interface Random {
  /** A number from 0 to 1. */
  next(): number;
  between(low: number, high: number): number;
  /** An integer from `low` to `high`, both included. */
  whole(low: number, high: number): number;
  chance(probability: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
}

/** Returns an independent generator for one part of the work, so that its results do not depend on the order of the other parts. */
export function randomFrom(seed: number, part = ""): Random {
  let state = hashed(`${seed}/${part}`);
  const next = () => {
    // mulberry32: short, and random enough to choose what to kill.
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    next,
    between: (low, high) => low + next() * (high - low),
    whole: (low, high) => low + Math.floor(next() * (high - low + 1)),
    chance: (probability) => next() < probability,
    pick(items) {
      const item = items[Math.floor(next() * items.length)];
      if (item === undefined) throw new Error("cannot pick from an empty list");
      return item;
    },
  };
}

/** FNV-1a over the characters. */
function hashed(text: string): number {
  let hash = 0x811c9dc5;
  for (const character of text) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  }
  return hash >>> 0;
}
