/**
 * Returns a function that computes a value from a list, and returns the last one again as long as the list has the same items: what is
 * asked for often, and changes rarely.
 */
export function rememberLast<Item, Value>(
  items: () => readonly Item[],
  compute: (items: readonly Item[]) => Value,
): () => Value {
  let last: { readonly items: readonly Item[]; readonly value: Value } | undefined;
  return () => {
    const now = items();
    if (last === undefined || !hasSameItems(last.items, now)) {
      last = { items: now, value: compute(now) };
    }
    return last.value;
  };
}

function hasSameItems<Item>(some: readonly Item[], others: readonly Item[]): boolean {
  return some.length === others.length && some.every((item, index) => item === others[index]);
}
