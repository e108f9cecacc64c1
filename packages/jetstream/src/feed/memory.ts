import type { RunEvent } from "@reeve/contracts/run";
import type { ThreadEvent } from "@reeve/contracts/thread";
import type { MemoryLog } from "../log/memory.ts";
import type { RunKey } from "../log/run-log.ts";
import type { ThreadKey } from "../log/thread-log.ts";
import type { Feed, FeedBatch, KindFilter } from "./port.ts";
import type { RunFeed } from "./run-feed.ts";
import type { ThreadFeed } from "./thread-feed.ts";

interface MemoryFeedOptions<Key> {
  /** Whether the batches of a log can be read now. Default: all can be read. */
  readonly isReadable?: (key: Key) => boolean;
  /** After how long a batch that cannot be read is read again. Default: 1 s. */
  readonly retryMs?: number;
}

/** Returns the feed of the runs of a log in memory. */
export function memoryRunFeed(
  log: MemoryLog<RunKey, RunEvent>,
  options: MemoryFeedOptions<RunKey> = {},
): RunFeed {
  return memoryFeed(log, options);
}

/** Returns the feed of the threads of a log in memory. */
export function memoryThreadFeed(log: MemoryLog<ThreadKey, ThreadEvent>): ThreadFeed {
  return memoryFeed(log);
}

/**
 * Returns the feed of all logs of a `MemoryLog`. A reader that returns gets what it did not acknowledge. Unlike in JetStream, two
 * readers of the same name at once do not share the work.
 */
function memoryFeed<Key, Event extends { readonly event: { readonly case: string | undefined } }>(
  log: MemoryLog<Key, Event>,
  { isReadable = () => true, retryMs = 1_000 }: MemoryFeedOptions<Key> = {},
): Feed<Key, Event> {
  const acknowledged = new Map<string, Set<number>>();
  return {
    async *consume(
      consumer: string,
      kinds: KindFilter,
      signal: AbortSignal,
    ): AsyncIterable<FeedBatch<Key, Event>> {
      const done = acknowledged.get(consumer) ?? new Set();
      acknowledged.set(consumer, done);
      using appended = log.appended.subscribe();
      let unreadable: number[] = [];
      for (let position = 0; ;) {
        signal.throwIfAborted();
        const next = log.batches.slice(position).map((_, at) => position + at);
        position += next.length;
        const waiting = [...unreadable, ...next];
        unreadable = [];
        for (const index of waiting) {
          const batch = log.batches[index];
          if (batch === undefined || done.has(index)) continue;
          if (!batch.events.some(({ event }) => kinds.has(event.case ?? "unknown"))) continue;
          if (isReadable(batch.key)) yield { ...batch, acknowledge: () => done.add(index) };
          else unreadable.push(index);
        }
        if (unreadable.length === 0) await appended.wait(signal);
        else await appended.waitFor(retryMs, signal);
      }
    },
  };
}
