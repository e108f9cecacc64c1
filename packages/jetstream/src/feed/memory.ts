import type { RunEvent } from "@reeve/contracts/run";
import type { ThreadEvent } from "@reeve/contracts/thread";
import type { FeedBatch, Feed } from "./port.ts";
import type { MemoryLog } from "../log/memory.ts";
import type { RunFeed } from "./run-feed.ts";
import type { RunKey } from "../log/run-log.ts";
import type { ThreadFeed } from "./thread-feed.ts";
import type { ThreadKey } from "../log/thread-log.ts";

/** What happens in the runs of a log in memory. */
export function memoryRunFeed(log: MemoryLog<RunKey, RunEvent>): RunFeed {
  return memoryFeed(log);
}

/** What happens in the threads of a log in memory. */
export function memoryThreadFeed(log: MemoryLog<ThreadKey, ThreadEvent>): ThreadFeed {
  return memoryFeed(log);
}

/**
 * What happens in the logs of a log in memory. A reader that comes back gets what it did not acknowledge; two readers of
 * one name at once do not share the work.
 */
function memoryFeed<Key, Event extends { readonly event: { readonly case: string | undefined } }>(
  log: MemoryLog<Key, Event>,
): Feed<Key, Event, string> {
  const acknowledged = new Map<string, Set<number>>();
  return {
    async *consume(
      consumer: string,
      kinds: ReadonlySet<string>,
      signal: AbortSignal,
    ): AsyncIterable<FeedBatch<Key, Event>> {
      const done = acknowledged.get(consumer) ?? new Set();
      acknowledged.set(consumer, done);
      const appended = log.appended.join();
      try {
        for (let place = 0; ;) {
          signal.throwIfAborted();
          const batch = log.batches[place];
          if (batch === undefined) await appended.wait(undefined, signal);
          else {
            const fed = place++;
            const isWanted = batch.events.some(({ event }) => event.case && kinds.has(event.case));
            if (isWanted && !done.has(fed)) yield { ...batch, acknowledge: () => done.add(fed) };
          }
        }
      } finally {
        log.appended.leave(appended);
      }
    },
  };
}
