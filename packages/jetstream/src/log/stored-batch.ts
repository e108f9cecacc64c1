import type { DescMessage } from "@bufbuild/protobuf";
import { fromBinary } from "@bufbuild/protobuf";
import type { Msg, MsgHdrs } from "@nats-io/transport-node";
import { storedReadOptions } from "@reeve/contracts/nesting";
import type { LogDefinition } from "./definitions.ts";

/** Headers of a stored batch, so that a reader knows what is inside without decoding it. */
export const batchHeaders = {
  first: "Reeve-First-Sequence",
  last: "Reeve-Last-Sequence",
  kinds: "Reeve-Kinds",
  /** Tells one write from any other, so that a writer recognises its own. */
  write: "Reeve-Write",
} as const;

/** What the stream compares before it stores a batch: the place of the last one of the subject. It is stored with it. */
export const expectedLastHeader = "Nats-Expected-Last-Subject-Sequence";

/** A batch as it lies in its stream. */
export interface StoredBatch {
  /** Place of the message in its stream. */
  readonly revision: number;
  readonly first: number;
  readonly last: number;
  readonly kinds: readonly string[];
  readonly write: string;
  /** Place of the batch before it; 0: it is the first. */
  readonly previousRevision: number;
  readonly data: Uint8Array;
}

/** A batch as the stream gives it: republished after its commit, or asked for. */
export function batchFromMessage(message: Msg): StoredBatch | undefined {
  const { headers } = message;
  if (headers === undefined) return undefined;
  return batchFromHeaders(Number(headers.get("Nats-Sequence")), headers, message.data);
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
    previousRevision: Number(headers.get(expectedLastHeader)),
    data,
  };
}

/** The events of a batch that come after `afterSequence`. */
export function eventsAfter<Key, Event, Schema extends DescMessage>(
  { schema, eventsOf }: LogDefinition<Key, Event, Schema>,
  { data }: StoredBatch,
  afterSequence: number,
): readonly Event[] {
  const { firstSequence, events } = eventsOf(fromBinary(schema, data, storedReadOptions));
  const known = Math.max(0, afterSequence + 1 - firstSequence);
  return known === 0 ? events : events.slice(known);
}
