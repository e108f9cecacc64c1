import { bucketOf } from "@reeve/contracts/channel";
import type { Thread } from "@reeve/contracts/thread";
import { ThreadSchema } from "@reeve/contracts/thread";
import { readThrough } from "@reeve/jetstream/log/read-through";
import type { ThreadFeed, ThreadFeedBatch } from "@reeve/jetstream/feed/thread-feed";
import type { ThreadLog } from "@reeve/jetstream/log/thread-log";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { Table } from "@reeve/jetstream/table/port";
import { emptyRow, threadRow } from "@reeve/run/thread/thread-row";

/** Each event changes the row, including those of a newer version. */
const allKinds = { has: () => true };

const { key: threadKey } = bucketOf(ThreadSchema);
const maxAttempts = 20;

export interface ThreadIndexPorts {
  readonly feed: ThreadFeed;
  readonly threads: ThreadLog;
  readonly index: Table<Thread>;
}

/**
 * Maintains the index of threads: a projection of their logs that can be discarded and rebuilt. Several gateways share the
 * work; a repeated batch changes nothing.
 */
export async function indexThreads(
  ports: ThreadIndexPorts,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  for await (const batch of ports.feed.consume("thread-index", allKinds, signal)) {
    try {
      await indexBatch(ports, batch, signal);
      batch.acknowledge();
    } catch (error) {
      if (signal.aborted) return;
      const { tenant, thread } = batch.key;
      // Without an acknowledgement the batch is delivered again.
      log.warn({ err: error, tenant, thread }, "thread was not indexed; trying again");
    }
  }
}

async function indexBatch(
  { threads, index }: ThreadIndexPorts,
  { key, events }: ThreadFeedBatch,
  signal: AbortSignal,
): Promise<void> {
  const rowKey = threadKey({ tenant: key.tenant, thread: key.thread });
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const row = await index.get(rowKey, signal);
    const before = row?.record ?? emptyRow(key.thread);
    const unseen = events.filter(({ sequence }) => sequence > before.lastSequence);
    const [first, last] = [unseen[0], unseen.at(-1)];
    if (first === undefined || last === undefined) return;
    // Without a row the thread may be new or deleted; after a gap another gateway is about to write the events before it.
    const joins = row !== undefined && first.sequence === before.lastSequence + 1;
    const after = joins
      ? threadRow(before, unseen)
      : threadRow(
          emptyRow(key.thread),
          (await readThrough(threads, key, last.sequence, signal)).events,
        );
    if (after === undefined) return await index.delete(rowKey, signal);
    const written =
      row === undefined
        ? await index.create(rowKey, after, signal)
        : await index.update(rowKey, after, row.revision, signal);
    if (written !== undefined) return;
  }
  throw new Error(
    `the row of thread ${key.thread} was not written: other writers were first in all ${maxAttempts} attempts`,
  );
}
