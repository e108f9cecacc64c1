/** Merges ordered ranges into one, and closes them at the end. Reads of each range one item more than it yields. */
export function* mergeOrdered<Item>(
  ranges: readonly Iterator<Item>[],
  isBefore: (a: Item, b: Item) => boolean,
): Iterable<Item> {
  try {
    const heads = ranges.map((range) => ({ range, next: range.next() }));
    for (;;) {
      const [first, ...others] = heads.filter(({ next }) => next.done !== true);
      if (first === undefined) return;
      const least = others.reduce(
        (found, head) => (isBefore(head.next.value, found.next.value) ? head : found),
        first,
      );
      yield least.next.value;
      least.next = least.range.next();
    }
  } finally {
    for (const range of ranges) range.return?.();
  }
}
