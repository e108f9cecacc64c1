import { bucketOf } from "@reeve/contracts/channel";
import type { Thread, ThreadHead } from "@reeve/contracts/thread";
import { ThreadSchema } from "@reeve/contracts/thread";
import type { ThreadFeed, ThreadFeedBatch } from "@reeve/jetstream/feed/thread-feed";
import type { ThreadKey, ThreadLog } from "@reeve/jetstream/log/thread-log";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { Table } from "@reeve/jetstream/table/port";
import { headIn, viewThread } from "@reeve/run/thread/read-thread";
import { threadRow } from "@reeve/run/thread/thread-row";

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
  const last = events.at(-1);
  if (last === undefined) return;
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const row = await index.get(rowKey, signal);
    if (row !== undefined && row.record.lastSequence >= last.sequence) return;
    // Without a row the thread may be new or deleted.
    const known = row === undefined ? undefined : headIn(events);
    const head = known ?? (await headFrom(threads, key, last.sequence, signal));
    const after = threadRow(key.thread, head);
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

/** Returns the state of a thread after the event at `sequence`, or a later one. */
async function headFrom(
  threads: ThreadLog,
  key: ThreadKey,
  sequence: number,
  signal: AbortSignal,
): Promise<ThreadHead> {
  const { head } = await viewThread(threads, key, signal);
  if (head.sequence >= sequence) return head;
  throw storeUnavailable(
    new Error(`thread ${key.thread} was read up to sequence ${head.sequence}, but has ${sequence}`),
  );
}
