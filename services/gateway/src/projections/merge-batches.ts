import type { RunFeedBatch } from "@reeve/jetstream/feed/run-feed";

/**
 * Returns the batches of one run as one batch with all their events, in the order of the log. Batches that overlap stay as they
 * are: one was delivered again, or belongs to a new run with the id of a deleted one.
 */
export function mergeBatches(batches: readonly RunFeedBatch[]): readonly RunFeedBatch[] {
  const [first, ...others] = batches.toSorted((a, b) => firstOf(a) - firstOf(b));
  if (first === undefined || others.length === 0) return batches;
  let reached = lastOf(first);
  for (const batch of others) {
    if (firstOf(batch) <= reached) return batches;
    reached = lastOf(batch);
  }
  return [
    {
      key: first.key,
      events: [first, ...others].flatMap(({ events }) => events),
      acknowledge: () => batches.forEach((batch) => batch.acknowledge()),
    },
  ];
}

function firstOf({ events }: RunFeedBatch): number {
  return events[0]?.sequence ?? 0;
}

function lastOf({ events }: RunFeedBatch): number {
  return events.at(-1)?.sequence ?? 0;
}
