import type { RunEvent } from "@reeve/contracts/run";
import type { MemoryLog } from "./memory-log.ts";
import type { FedBatch, RunEventKind, RunFeed } from "./run-feed.ts";
import type { RunKey } from "./run-log.ts";

/**
 * What happens in the runs of a log in memory. A reader that comes back gets what it did not acknowledge; two readers of
 * one name at once do not share the work.
 */
export function memoryRunFeed(log: MemoryLog<RunKey, RunEvent>): RunFeed {
  const acknowledged = new Map<string, Set<number>>();
  return {
    async *consume(
      consumer: string,
      kinds: ReadonlySet<RunEventKind>,
      signal: AbortSignal,
    ): AsyncIterable<FedBatch> {
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
