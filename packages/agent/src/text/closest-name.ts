/** Longer names are not compared: the comparison takes time in proportion to the product of their lengths. */
const maxLength = 128;

/**
 * Returns the name that `given` is most likely meant to be, for "did you mean": the one with the fewest characters to insert,
 * remove, or replace, at most a third of them. Undefined: none is close enough.
 */
export function closestName(given: string, names: Iterable<string>): string | undefined {
  if (given.length > maxLength) return undefined;
  let best: string | undefined;
  let least = Math.max(1, Math.floor(given.length / 3)) + 1;
  for (const name of names) {
    if (name === given || name.length > maxLength) continue;
    if (Math.abs(name.length - given.length) >= least) continue;
    const distance = distanceOf(given.toLowerCase(), name.toLowerCase());
    if (distance < least) [best, least] = [name, distance];
  }
  return best;
}

/** Returns how many characters to insert, remove, or replace turn one text into the other. */
function distanceOf(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let at = 1; at <= from.length; at++) {
    const next = [at];
    for (let other = 1; other <= to.length; other++) {
      const replaced = (row[other - 1] ?? 0) + (from[at - 1] === to[other - 1] ? 0 : 1);
      const removed = (row[other] ?? 0) + 1;
      const inserted = (next[other - 1] ?? 0) + 1;
      next.push(Math.min(replaced, removed, inserted));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
