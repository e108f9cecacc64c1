import { createHash } from "node:crypto";
import { jetstream } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { nuid } from "@nats-io/transport-node";
import { assertRoomBesideReserve } from "../reserve/spend-reserve.ts";
import { callStore } from "../streams/call-store.ts";
import { removeSubject } from "../streams/remove-subject.ts";

/** The size of each chunk except the last one. Every server accepts a message of this size. */
export const chunkBytes = 128 * 1024;
/** Timeout for the acknowledgement of one message. */
export const chunkTimeoutMs = 10_000;

/** The chunks of an object in a bucket, which has no name yet. */
export interface WrittenChunks {
  readonly nuid: string;
  readonly size: number;
  readonly chunks: number;
  /** SHA-256 of all bytes. */
  readonly digest: Buffer;
}

/** Stores bytes in a bucket without a name. Rethrows what `content` throws, and then removes what it has stored. */
export async function writeChunks(
  connection: NatsConnection,
  bucket: string,
  content: AsyncIterable<Uint8Array>,
): Promise<WrittenChunks> {
  const id = nuid.next();
  const subject = `$O.${bucket}.C.${id}`;
  const publisher = jetstream(connection);
  const hash = createHash("sha256");
  let size = 0;
  let chunks = 0;
  try {
    for await (const chunk of inChunks(content)) {
      assertRoomBesideReserve(connection);
      hash.update(chunk);
      size += chunk.length;
      chunks++;
      await callStore(() => publisher.publish(subject, chunk, { timeout: chunkTimeoutMs }));
    }
  } catch (error) {
    // If this fails as well, a clean-up removes the chunks.
    await removeChunks(connection, bucket, id).catch(() => undefined);
    throw error;
  }
  return { nuid: id, size, chunks, digest: hash.digest() };
}

/** Removes the chunks of an object. */
export async function removeChunks(
  connection: NatsConnection,
  bucket: string,
  id: string,
): Promise<void> {
  await removeSubject(connection, `OBJ_${bucket}`, `$O.${bucket}.C.${id}`);
}

/** Yields the same bytes in pieces of `chunkBytes`. */
async function* inChunks(content: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  let pending: Uint8Array[] = [];
  let size = 0;
  for await (const given of content) {
    pending.push(given);
    size += given.length;
    if (size < chunkBytes) continue;
    const all = Buffer.concat(pending);
    let at = 0;
    for (; all.length - at >= chunkBytes; at += chunkBytes) yield all.subarray(at, at + chunkBytes);
    pending = [all.subarray(at)];
    size = all.length - at;
  }
  if (size > 0) yield Buffer.concat(pending);
}
