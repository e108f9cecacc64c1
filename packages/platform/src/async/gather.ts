/** How many items belong together at most, and for how long to wait for more after the first one. */
export interface GatherLimits {
  readonly maxItems: number;
  /** Resolves when the wait is over. Is aborted when nothing more can be added. */
  wait(signal: AbortSignal): Promise<void>;
}

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
  let next = iterator.next();
  try {
    for (;;) {
      const first = await next;
      if (first.done === true) return;
      const group = [first.value];
      next = iterator.next();
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
          next = iterator.next();
        }
      } finally {
        full.abort();
      }
      yield group;
    }
  } finally {
    next.catch(() => undefined);
    await iterator.return?.();
  }
}
