import { abortable } from "@reeve/platform/async/abortable";
import type { Feed, FeedBatch } from "./port.ts";

const over = new DOMException("the reader has ended", "AbortError");

/**
 * Returns one feed of several: its batches are in the order of their commits among those of the same feed. At most one batch of each
 * waits for the reader.
 */
export function mergedFeed<Key, Event>(feeds: readonly Feed<Key, Event>[]): Feed<Key, Event> {
  const [only] = feeds;
  if (only !== undefined && feeds.length === 1) return only;
  return {
    async *consume(consumer, kinds, signal) {
      const end = new AbortController();
      const until = AbortSignal.any([signal, end.signal]);
      const readers = feeds.map((feed) =>
        feed.consume(consumer, kinds, until)[Symbol.asyncIterator](),
      );
      type Next = readonly [reader: number, result: IteratorResult<FeedBatch<Key, Event>>];
      const pending = new Map<number, Promise<Next>>();
      const advance = (index: number) => {
        const next = readers[index]?.next().then((result) => [index, result] as const);
        if (next !== undefined) pending.set(index, next);
      };
      try {
        for (const index of readers.keys()) advance(index);
        while (pending.size > 0) {
          const [index, { done, value }] = await abortable(Promise.race(pending.values()), signal);
          pending.delete(index);
          if (done === true) continue;
          yield value;
          advance(index);
        }
      } finally {
        end.abort(over);
        await Promise.allSettled(pending.values());
        await Promise.allSettled(readers.map(async (reader) => await reader.return?.()));
      }
    },
  };
}
