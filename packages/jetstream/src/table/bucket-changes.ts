import type { JetStreamManager, JsMsg } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { orderedMessages, streamPosition } from "../streams/ordered-messages.ts";
import type { TablePosition } from "./port.ts";
import { maxBatchedChanges } from "./port.ts";

const maxPulledMessages = 500;
/** How long a pull waits for messages. */
const pullMs = 2_000;
/** How many bytes a batch has at most, apart from its last change. */
const maxBatchedBytes = 256 * 1024;

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
  manager: Pick<JetStreamManager, "streams">,
  bucket: string,
): Promise<TablePosition> {
  const { instance, sequence } = await streamPosition(manager, `KV_${bucket}`);
  return { instance, revision: sequence };
}

/**
 * Yields the entries of a bucket after a position, in the order of their revisions, then each new one. Throws a Failure of kind
 * `unavailable` when the store is lost, when an entry was missed, and when the bucket was replaced.
 */
export async function* bucketChanges(
  connection: NatsConnection,
  bucket: string,
  { instance, revision }: TablePosition,
  signal: AbortSignal,
): AsyncIterable<EntryBatch> {
  const read = {
    stream: `KV_${bucket}`,
    after: { instance, sequence: revision },
    maxPulled: maxPulledMessages,
    pullMs,
    maxTogether: { messages: maxBatchedChanges, bytes: maxBatchedBytes },
  };
  for await (const { messages, sequence } of orderedMessages(connection, read, signal)) {
    const entries = messages.map((message) => bucketEntry(message, bucket));
    yield { entries, revision: sequence };
  }
}

function bucketEntry({ subject, data, seq, headers }: JsMsg, bucket: string): BucketEntry {
  const key = subject.slice(`$KV.${bucket}.`.length);
  // A value has no such header.
  const isDeletion = (headers?.get("KV-Operation") ?? "") !== "";
  return { key, value: isDeletion ? undefined : data, revision: seq };
}
