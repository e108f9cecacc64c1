/** How many items belong together at most, and for how long to wait for more after the first one. */
export interface GatherLimits {
  readonly maxItems: number;
  /** Resolves when the wait is over. Is aborted when nothing more can be added. */
  wait(signal: AbortSignal): Promise<void>;
}

/** Shared by all groups: creating an exception with its stack is a noticeable part of the cost of a group. */
const groupIsFull = new DOMException("the group is complete", "AbortError");

/**
 * Yields items in groups, in their order: each group has what arrived within a short wait after its first item, and what
 * arrived while the reader worked on the group before. Takes one item more than it has yielded.
 */
export async function* gather<Item>(
  items: AsyncIterable<Item>,
  { maxItems, wait }: GatherLimits,
  signal: AbortSignal,
): AsyncIterable<readonly Item[]> {
  const iterator = items[Symbol.asyncIterator]();
  const take = () => {
    const taken = iterator.next();
    // It may fail before anything waits for it.
    taken.catch(() => undefined);
    return taken;
  };
  let next = take();
  try {
    for (;;) {
      const first = await next;
      if (first.done === true) return;
      const group = [first.value];
      next = take();
      const full = new AbortController();
      const over = wait(AbortSignal.any([signal, full.signal])).then(
        () => "over" as const,
        () => "over" as const,
      );
      try {
        while (group.length < maxItems) {
          const arrived = await Promise.race([next, over]);
          if (arrived === "over" || arrived.done === true) break;
          group.push(arrived.value);
          next = take();
        }
      } finally {
        full.abort(groupIsFull);
      }
      yield group;
    }
  } finally {
    await iterator.return?.();
  }
}
