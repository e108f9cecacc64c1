import type { RunEvent } from "@reeve/contracts/run";
import type { ThreadEvent } from "@reeve/contracts/thread";
import type { MemoryLog } from "../log/memory.ts";
import type { RunKey } from "../log/run-log.ts";
import type { ThreadKey } from "../log/thread-log.ts";
import type { Feed, FeedBatch, KindFilter } from "./port.ts";
import type { RunFeed } from "./run-feed.ts";
import type { ThreadFeed } from "./thread-feed.ts";

/** Returns the feed of the runs of a log in memory. */
export function memoryRunFeed(log: MemoryLog<RunKey, RunEvent>): RunFeed {
  return memoryFeed(log);
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
      for (let position = 0; ;) {
        signal.throwIfAborted();
        const batch = log.batches[position];
        if (batch === undefined) await appended.wait(signal);
        else {
          const index = position++;
          const matches = batch.events.some(({ event }) => kinds.has(event.case ?? "unknown"));
          if (matches && !done.has(index)) yield { ...batch, acknowledge: () => done.add(index) };
        }
      }
    },
  };
}
