import type { ConsumerMessages, JetStreamManager, JsMsg } from "@nats-io/jetstream";
import { AckPolicy, DeliverPolicy, jetstream } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { nanos } from "@nats-io/transport-node";
import { onAbort } from "@reeve/platform/async/on-abort";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import { callStore } from "../streams/call-store.ts";
import { openJetStreamManager } from "../streams/ensure-stream.ts";
import { storeFailure } from "../streams/errors.ts";
import type { TablePosition } from "./port.ts";
import { maxBatchedChanges } from "./port.ts";

/** How many messages one pull asks for. The next pull follows when all were processed, so a slow reader holds no more. */
const maxPulledMessages = 500;
/** How long a pull waits for messages. */
const pullMs = 2_000;
/** How many bytes a batch has at most, apart from its last change. */
const maxBatchedBytes = 256 * 1024;
/** The server removes the consumer of a process that died after this time. */
const inactiveMs = 30_000;

/** A change of a key of a bucket. */
interface BucketEntry {
  readonly key: string;
  /** Undefined: the key was deleted. */
  readonly value: Uint8Array | undefined;
  readonly revision: number;
}

/** Consecutive entries, and the revision that the reader has reached with them. */
interface EntryBatch {
  readonly entries: readonly BucketEntry[];
  readonly revision: number;
}

/** Returns what identifies a bucket, and the revision of its last change. Asks the leader, which has all writes. */
export async function bucketPosition(
  { streams }: Pick<JetStreamManager, "streams">,
  bucket: string,
): Promise<TablePosition> {
  const { created, state } = await callStore(() => streams.info(`KV_${bucket}`));
  return { instance: created, revision: state.last_seq };
}

/**
 * Yields the entries of a bucket after a position, in the order of their revisions, then each new one. Throws a Failure of kind
 * `unavailable` when the store is lost, when an entry was missed, and when the bucket was replaced.
 */
export async function* bucketChanges(
  connection: NatsConnection,
  bucket: string,
  after: TablePosition,
  signal: AbortSignal,
): AsyncIterable<EntryBatch> {
  const manager = await openJetStreamManager(connection);
  const consumer = await callStore(() => openConsumer(connection, manager, bucket, after));
  let delivered = 0;
  let { revision } = after;
  const entryOf = (message: JsMsg): BucketEntry => {
    // Without acknowledgements, a message that is lost with its connection is not delivered again.
    if (message.info.deliverySequence !== ++delivered) throw missed(bucket, revision);
    revision = message.seq;
    return bucketEntry(message, bucket);
  };
  try {
    for (;;) {
      const before = delivered;
      const messages = await callStore(() =>
        consumer.fetch({ max_messages: maxPulledMessages, expires: pullMs }),
      );
      using _ = onAbort(signal, () => messages.stop());
      for await (const received of inBatches(messages)) {
        yield { entries: received.map(entryOf), revision };
        signal.throwIfAborted();
      }
      signal.throwIfAborted();
      if (delivered > before) continue;
      const { instance, revision: last } = await bucketPosition(manager, bucket);
      if (instance !== after.instance) throw replaced(bucket);
      const info = await callStore(() => consumer.info());
      // The last change may have been removed before it was delivered.
      const hasAll = info.num_pending === 0 && info.delivered.consumer_seq === delivered;
      if (hasAll && last > revision) yield { entries: [], revision: (revision = last) };
    }
  } catch (error) {
    signal.throwIfAborted();
    throw storeFailure(error);
  } finally {
    void consumer.delete().catch(() => undefined);
  }
}

async function openConsumer(
  connection: NatsConnection,
  manager: JetStreamManager,
  bucket: string,
  after: TablePosition,
) {
  const stream = `KV_${bucket}`;
  const { name } = await manager.consumers.add(stream, {
    ack_policy: AckPolicy.None,
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: after.revision + 1,
    inactive_threshold: nanos(inactiveMs),
    mem_storage: true,
    num_replicas: 1,
  });
  // Read after the consumer was created: it belongs to this bucket, or to one that came before it and ends with it.
  const { instance } = await bucketPosition(manager, bucket);
  if (instance !== after.instance) throw replaced(bucket);
  return await jetstream(connection).consumers.get(stream, name);
}

/** Yields the messages that have arrived together, as many as a batch of changes may have. */
async function* inBatches(messages: ConsumerMessages): AsyncIterable<readonly JsMsg[]> {
  let batch: JsMsg[] = [];
  let bytes = 0;
  for await (const message of messages) {
    batch.push(message);
    bytes += message.data.length;
    const isFull = batch.length === maxBatchedChanges || bytes >= maxBatchedBytes;
    if (messages.getPending() > 0 && !isFull) continue;
    yield batch;
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) yield batch;
}

function bucketEntry({ subject, data, seq, headers }: JsMsg, bucket: string): BucketEntry {
  const key = subject.slice(`$KV.${bucket}.`.length);
  // A value has no such header.
  const isDeletion = (headers?.get("KV-Operation") ?? "") !== "";
  return { key, value: isDeletion ? undefined : data, revision: seq };
}

function missed(bucket: string, revision: number): Error {
  return storeUnavailable(new Error(`a change of bucket ${bucket} after ${revision} was missed`));
}

function replaced(bucket: string): Error {
  return storeUnavailable(new Error(`bucket ${bucket} was deleted and created again`));
}
