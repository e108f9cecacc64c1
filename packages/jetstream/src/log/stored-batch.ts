import type { DescMessage } from "@bufbuild/protobuf";
import { fromBinary } from "@bufbuild/protobuf";
import type { Msg, MsgHdrs } from "@nats-io/transport-node";
import { headers } from "@nats-io/transport-node";
import { storedReadOptions } from "@reeve/contracts/rules/nesting";
import { batchDigest } from "@reeve/contracts/digest/batch-digest";
import type { BatchContent, LogDefinition } from "./definitions.ts";
import { decodedBatches } from "./decoded-batches.ts";
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

/** The header of a message that stands for the archived batches before it. Its value is a `MarkerKind`. */
export const archiveHeader = "Reeve-Archive";

/** A batch as its stream stores it. */
export interface StoredBatch extends RawBatch {
  readonly write: string;
  /** The revision of the batch before it in the same log; 0 for the first batch. */
  readonly previousRevision: number;
  /** Set if it is no batch, but stands for the archived batches of the log, from the first one to `last`. */
  readonly marker?: "closed" | "open";
}

/** What the headers of a batch say about it. */
interface DescribedBatch {
  /** The tail that it follows. */
  readonly tail: Tail;
  /** How many events it has. */
  readonly length: number;
  readonly kinds: readonly string[];
}

/** Returns the headers with which a batch is published. */
export function headersOfBatch(
  { tail: { sequence, revision }, length, kinds }: DescribedBatch,
  write: string,
  digest: string,
): MsgHdrs {
  const result = headers();
  result.set(expectedLastHeader, String(revision));
  result.set(batchHeaders.first, String(sequence + 1));
  result.set(batchHeaders.last, String(sequence + length));
  result.set(batchHeaders.kinds, kinds.join(","));
  result.set(batchHeaders.write, write);
  result.set(batchHeaders.digest, digest);
  return result;
}

/** Reads a batch from a message that the stream republished after the commit. */
export function batchFromMessage(message: Msg): StoredBatch | undefined {
  if (message.headers === undefined) return undefined;
  const revision = Number(message.headers.get("Nats-Sequence"));
  return batchFromHeaders(revision, message.headers, message.data);
}

/** Reads a batch from a stored message. */
export function batchOf(message: StoredMessage | undefined): StoredBatch | undefined {
  return message && batchFromHeaders(message.sequence, message.headers, message.data);
}

export function batchFromHeaders(
  revision: number,
  described: MsgHdrs,
  data: Uint8Array,
): StoredBatch {
  const marker = described.get(archiveHeader);
  return {
    ...(marker !== "" && { marker: marker === "closed" ? "closed" : "open" }),
    revision,
    first: Number(described.get(batchHeaders.first)),
    last: Number(described.get(batchHeaders.last)),
    kinds: described.get(batchHeaders.kinds).split(","),
    write: described.get(batchHeaders.write),
    digest: described.get(batchHeaders.digest),
    previousRevision: Number(described.get(expectedLastHeader)),
    data,
  };
}

/** Returns the tail after a batch of the log on `subject`. */
export function tailAfter(subject: string, batch: StoredBatch): Tail {
  const digest = batch.digest === "" ? batchDigest(subject, batch.data) : batch.digest;
  return { sequence: batch.last, revision: batch.revision, digest };
}

/** Decodes a batch. Several readers of one process get the same objects, which nobody may change. */
export function contentOf<Key, Event, Schema extends DescMessage>(
  { schema, eventsOf }: LogDefinition<Key, Event, Schema>,
  { data, write }: Pick<StoredBatch, "data" | "write">,
): BatchContent<Event> {
  const decode = () => fromBinary(schema, data, storedReadOptions);
  return eventsOf(decodedBatches.of(schema, { data, write }, decode));
}

/** Returns the events of a batch after `afterSequence`. */
export function eventsAfter<Event>(
  { firstSequence, events }: BatchContent<Event>,
  afterSequence: number,
): readonly Event[] {
  const known = Math.max(0, afterSequence + 1 - firstSequence);
  return known === 0 ? events : events.slice(known);
}
