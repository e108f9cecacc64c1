import { randomBytes } from "node:crypto";
import type { DescMessage } from "@bufbuild/protobuf";
import { toBinary } from "@bufbuild/protobuf";
import { batchDigest, digestBytes } from "@reeve/contracts/digest/batch-digest";
import type { PayloadCipher, Place } from "../sealing/payload-cipher.ts";
import { keyIdOf } from "../sealing/sealed-message.ts";
import { decodedBatches } from "./decoded-batches.ts";
import type { LogDefinition } from "./definitions.ts";
import type { Tail } from "./port.ts";
import type { StoredBatch } from "./stored-batch.ts";

const saltBytes = 16;

/** A batch in the form in which its stream stores it. */
export interface EncodedBatch {
  readonly data: Uint8Array;
  /** The digest of its decrypted form. */
  readonly digest: string;
}

/** The events that follow a tail. `write` identifies the write of the batch. */
interface BatchToStore<Event> {
  readonly tail: Tail;
  readonly events: readonly Event[];
  readonly write: string;
}

/**
 * Encodes the batch that follows a tail, and seals it for its log. `place.name` is the subject of the log. The readers of the batch in
 * this process get the events themselves, which nobody may change.
 */
export async function encodeBatch<Event, Schema extends DescMessage>(
  { schema, batch }: Pick<LogDefinition<never, Event, Schema>, "schema" | "batch">,
  { cipher, place }: { readonly cipher: PayloadCipher; readonly place: Place },
  { tail, events, write }: BatchToStore<Event>,
  signal: AbortSignal,
): Promise<EncodedBatch> {
  // The digest is stored as a header. Without a salt, it would confirm a guess of the content.
  const salt = cipher.isOn ? randomBytes(saltBytes) : undefined;
  const content = batch(tail.sequence + 1, events, digestBytes(tail.digest), salt);
  const plain = toBinary(schema, content);
  // Feeds of this process may deliver the batch before its writer knows that it is stored.
  decodedBatches.add(schema, { write, data: plain }, content);
  const data = cipher.isOn ? await cipher.seal(place, plain, signal) : plain;
  return { data, digest: batchDigest(place.name, plain) };
}

/** Returns a batch of the log `place.name` with its decrypted content: at once if it is not encrypted, which most readers see. */
export function openBatch(
  cipher: PayloadCipher,
  place: Place,
  batch: StoredBatch,
  signal: AbortSignal,
): StoredBatch | Promise<StoredBatch> {
  return keyIdOf(batch.data) === undefined ? batch : openSealed(cipher, place, batch, signal);
}

async function openSealed(
  cipher: PayloadCipher,
  place: Place,
  batch: StoredBatch,
  signal: AbortSignal,
): Promise<StoredBatch> {
  return { ...batch, data: await cipher.open(place, batch.data, signal) };
}
