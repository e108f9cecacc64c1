import type { DescMessage } from "@bufbuild/protobuf";
import { fromBinary } from "@bufbuild/protobuf";
import type { Msg, MsgHdrs } from "@nats-io/transport-node";
import { storedReadOptions } from "@reeve/contracts/nesting";
import { batchDigest } from "@reeve/contracts/digest/batch-digest";
import type { BatchContent, LogDefinition } from "./definitions.ts";
import type { RawBatch, Tail } from "./port.ts";
import type { StoredMessage } from "../streams/stream-messages.ts";

/** Headers of a stored batch. They describe it to readers that do not decode it. */
export const batchHeaders = {
  first: "Reeve-First-Sequence",
  last: "Reeve-Last-Sequence",
  kinds: "Reeve-Kinds",
  /** Identifies one write, so that a writer recognizes its own. */
  write: "Reeve-Write",
  /** The digest of the batch, see `batchDigest`. */
  digest: "Reeve-Digest",
} as const;

/**
 * The revision of the subject's last batch as the writer knows it. The stream compares it before it stores a batch, and stores
 * it with the batch.
 */
export const expectedLastHeader = "Nats-Expected-Last-Subject-Sequence";

/** A batch as its stream stores it. */
export interface StoredBatch extends RawBatch {
  readonly write: string;
  /** The revision of the batch before it in the same log; 0 for the first batch. */
  readonly previousRevision: number;
}

/** Reads a batch from a message that the stream republished after the commit. */
export function batchFromMessage(message: Msg): StoredBatch | undefined {
  const { headers } = message;
  if (headers === undefined) return undefined;
  return batchFromHeaders(Number(headers.get("Nats-Sequence")), headers, message.data);
}

/** Reads a batch from a stored message. */
export function batchOf(message: StoredMessage | undefined): StoredBatch | undefined {
  return message && batchFromHeaders(message.sequence, message.headers, message.data);
}

export function batchFromHeaders(
  revision: number,
  headers: MsgHdrs,
  data: Uint8Array,
): StoredBatch {
  return {
    revision,
    first: Number(headers.get(batchHeaders.first)),
    last: Number(headers.get(batchHeaders.last)),
    kinds: headers.get(batchHeaders.kinds).split(","),
    write: headers.get(batchHeaders.write),
    digest: headers.get(batchHeaders.digest),
    previousRevision: Number(headers.get(expectedLastHeader)),
    data,
  };
}

/** Returns the tail after a batch of the log on `subject`. */
export function tailAfter(subject: string, batch: StoredBatch): Tail {
  const digest = batch.digest === "" ? batchDigest(subject, batch.data) : batch.digest;
  return { sequence: batch.last, revision: batch.revision, digest };
}

/** Decodes a batch. */
export function contentOf<Key, Event, Schema extends DescMessage>(
  { schema, eventsOf }: LogDefinition<Key, Event, Schema>,
  { data }: Pick<StoredBatch, "data">,
): BatchContent<Event> {
  return eventsOf(fromBinary(schema, data, storedReadOptions));
}

/** Returns the events of a batch after `afterSequence`. */
export function eventsAfter<Event>(
  { firstSequence, events }: BatchContent<Event>,
  afterSequence: number,
): readonly Event[] {
  const known = Math.max(0, afterSequence + 1 - firstSequence);
  return known === 0 ? events : events.slice(known);
}
