import { ReadableStream } from "node:stream/web";
import { jetstream } from "@nats-io/jetstream";
import type { ObjectInfo, ObjectStore } from "@nats-io/obj";
import { Objm } from "@nats-io/obj";
import type { NatsConnection } from "@nats-io/transport-node";
import { headers } from "@nats-io/transport-node";
import { requestClientOf } from "@reeve/platform/nats/request-client";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import { ensureBucket, openJetStreamManager } from "../streams/ensure-stream.ts";
import { retryRead } from "../table/retry-read.ts";
import { callStore } from "../streams/call-store.ts";
import { removeSubject } from "../streams/remove-subject.ts";
import { settleStream } from "../streams/settle-stream.ts";
import { isConflict, storeFailure } from "../streams/errors.ts";
import { openOrCreate } from "../streams/open-or-create.ts";
import { readChunks } from "./read-chunks.ts";
import type { WrittenChunks } from "./write-chunks.ts";
import { chunkBytes, chunkTimeoutMs, removeChunks, writeChunks } from "./write-chunks.ts";

/** Opens the object store `bucket`, and creates it if it is missing. */
export async function openBytes(connection: NatsConnection, bucket: string): Promise<NatsBytes> {
  await callStore(() => openJetStreamManager(connection));
  const stores = new Objm(jetstream(connection, { checkAPI: false }));
  const stream = `OBJ_${bucket}`;
  const open = () => stores.open(bucket, false);
  const create = (replicas: number) => stores.create(bucket, { replicas });
  const objects = await ensureBucket(connection, stream, () =>
    openOrCreate(connection, { stream, open, create }),
  );
  return new NatsBytes(connection, bucket, objects);
}

/** How many times others may change a name before a write to it fails. */
const maxAttempts = 20;

/** What the stored message of a name says, besides the name. */
type Description = Pick<ObjectInfo, "nuid" | "size" | "chunks" | "digest" | "deleted">;

/** Stores bytes by name in the object store of one bucket. Each name is written once. */
export class NatsBytes {
  readonly #connection: NatsConnection;
  readonly #bucket: string;
  readonly #objects: ObjectStore;

  constructor(connection: NatsConnection, bucket: string, objects: ObjectStore) {
    this.#connection = connection;
    this.#bucket = bucket;
    this.#objects = objects;
  }

  /** Returns the description of a complete object, or undefined when no complete object has the name. */
  async find(name: string, signal: AbortSignal): Promise<ObjectInfo | undefined> {
    const read = async () => {
      const info = await this.#objects.info(name);
      return info !== null && (await this.#isComplete(info)) ? info : undefined;
    };
    return retryRead(this.#connection, read, signal);
  }

  /**
   * Stores bytes and metadata under a name that has none. Returns undefined when another writer was first. Rethrows what
   * `content` throws, and then stores nothing.
   */
  async write(
    name: string,
    metadata: Record<string, string>,
    content: AsyncIterable<Uint8Array>,
  ): Promise<ObjectInfo | undefined> {
    const existing = await callStore(() => this.#objects.info(name));
    if (existing !== null && (await this.#isComplete(existing))) return undefined;
    // A writer that got no acknowledgement may have left a name without its bytes. Replace it.
    const options = { timeout: chunkTimeoutMs, previousRevision: existing?.revision ?? 0 };
    let sourceError: { readonly error: unknown } | undefined;
    const source = async function* () {
      try {
        yield* content;
      } catch (error) {
        sourceError = { error };
        throw error;
      }
    };
    try {
      const chunks = ReadableStream.from(source());
      return await this.#objects.put({ name, metadata }, chunks, options);
    } catch (error) {
      if (sourceError !== undefined) throw sourceError.error;
      if (isConflict(error)) return undefined;
      throw storeFailure(error);
    }
  }

  /**
   * Stores bytes under `folder` followed by their SHA-256 in hexadecimal. Bytes that are stored there already are kept, with the
   * current time. Rethrows what `content` throws, and then stores nothing.
   */
  async writeByDigest(
    folder: string,
    content: AsyncIterable<Uint8Array>,
  ): Promise<{ readonly name: string; readonly size: number }> {
    const written = await writeChunks(this.#connection, this.#bucket, content);
    const name = `${folder}/${written.digest.toString("hex")}`;
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      if (await this.#nameChunks(name, written)) return { name, size: written.size };
    }
    await removeChunks(this.#connection, this.#bucket, written.nuid).catch(() => undefined);
    throw storeFailure(new Error(`others changed the object ${name} ${maxAttempts} times`));
  }

  /** Returns false when the name has changed meanwhile. */
  async #nameChunks(name: string, written: WrittenChunks): Promise<boolean> {
    const existing = await callStore(() => this.#objects.info(name));
    const isStored = existing !== null && (await this.#isComplete(existing));
    const { digest, ...chunks } = written;
    const description = isStored
      ? existing
      : { ...chunks, digest: `SHA-256=${inBase64Url(digest)}`, deleted: false };
    const isNamed = await this.#describe(name, description, existing?.revision ?? 0);
    if (isNamed === undefined) return false;
    const unused = isStored ? written.nuid : existing?.nuid;
    // If this fails, a clean-up removes the chunks.
    if (unused !== undefined && unused !== description.nuid) {
      await removeChunks(this.#connection, this.#bucket, unused).catch(() => undefined);
    }
    return true;
  }

  /** Writes the message of a name with the current time. Returns undefined when it has another revision. */
  async #describe(
    name: string,
    { nuid, size, chunks, digest, deleted }: Description,
    revision: number,
  ): Promise<number | undefined> {
    const options = { max_chunk_size: chunkBytes };
    const mtime = new Date().toISOString();
    const stored = { name, options, bucket: this.#bucket, nuid, size, chunks, mtime };
    const given = headers();
    given.set("Nats-Expected-Last-Subject-Sequence", `${revision}`);
    given.set("Nats-Rollup", "sub");
    const data = JSON.stringify({ ...stored, digest, deleted });
    const publish = () =>
      jetstream(this.#connection).publish(this.#subjectOf(name), data, {
        headers: given,
        timeout: chunkTimeoutMs,
      });
    return (await callStore(publish, "undefined_on_conflict"))?.seq;
  }

  /** Removes an object that was stored at the given time. Returns false when it was stored again since, or is gone. */
  async removeUnchanged(name: string, storedAt: Date): Promise<boolean> {
    const info = await callStore(() => this.#objects.info(name));
    if (info === null || info.deleted) return false;
    if (new Date(info.mtime).getTime() !== storedAt.getTime()) return false;
    const { nuid, size, chunks, digest } = info;
    const gone = { nuid, size, chunks, digest, deleted: true };
    const revision = await this.#describe(name, gone, info.revision);
    if (revision === undefined) return false;
    await removeChunks(this.#connection, this.#bucket, nuid);
    const purged = { filter: this.#subjectOf(name), seq: revision + 1 };
    await callStore(async () => {
      const { streams } = await openJetStreamManager(this.#connection);
      await streams.purge(`OBJ_${this.#bucket}`, purged);
    });
    return true;
  }

  /** Returns the bytes in chunks, or undefined when no complete object has the name. */
  async read(name: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array> | undefined> {
    const info = await this.find(name, signal);
    return info && this.chunksOf(info, signal);
  }

  /** Returns the bytes of an object that was found. */
  chunksOf(info: ObjectInfo, signal: AbortSignal): AsyncIterable<Uint8Array> {
    return readChunks({ connection: this.#connection, bucket: this.#bucket }, info, signal);
  }

  /**
   * Waits until a majority of the servers has agreed on everything before this call; repeats it while the store is unavailable.
   * Does nothing if one server has everything.
   */
  async settle(signal: AbortSignal): Promise<void> {
    const settleOnce = async () => {
      if (!(await this.isReplicated())) return;
      await settleStream(requestClientOf(this.#connection), `OBJ_${this.#bucket}`);
    };
    await retryRead(this.#connection, settleOnce, signal);
  }

  async isReplicated(): Promise<boolean> {
    return (await callStore(() => this.#objects.status())).replicas > 1;
  }

  /** Removes an object, complete or not, with all messages of its name. */
  async remove(name: string): Promise<void> {
    const stream = `OBJ_${this.#bucket}`;
    const info = await callStore(() => this.#objects.info(name));
    if (info === null) return;
    // The name last, so that an object which was only half removed is still listed.
    await removeChunks(this.#connection, this.#bucket, info.nuid);
    await removeSubject(this.#connection, stream, this.#subjectOf(name));
  }

  /**
   * Removes bytes without a name that were written more than `olderThanMs` ago. Throws a Failure of kind `unavailable`, and removes
   * nothing, when the names come from a server that lacks some.
   */
  async cleanUp(olderThanMs: number, signal: AbortSignal): Promise<void> {
    const { streams } = await callStore(() => openJetStreamManager(this.#connection));
    const stream = `OBJ_${this.#bucket}`;
    const all = `$O.${this.#bucket}.C.>`;
    await this.settle(signal);
    // List the chunks before the names: chunks whose name is written meanwhile are then not taken for orphans.
    const info = await callStore(() => streams.info(stream, { subjects_filter: all }));
    const chunks = Object.keys(info.state.subjects ?? {});
    const lastBefore = await this.#lastNaming();
    const listed = await callStore(() => this.#objects.list());
    const newest = Math.max(0, ...listed.map(({ revision }) => revision));
    // The last name may have been removed since.
    if (newest < lastBefore && newest < (await this.#lastNaming())) throw storeUnavailable();
    const kept = listed.filter(({ deleted }) => !deleted);
    const named = new Set(kept.map(({ nuid }) => `$O.${this.#bucket}.C.${nuid}`));
    for (const subject of chunks.filter((each) => !named.has(each))) {
      signal.throwIfAborted();
      const last = await callStore(() => streams.getMessage(stream, { last_by_subj: subject }));
      if (last === null || Date.now() - last.time.getTime() < olderThanMs) continue;
      await removeSubject(this.#connection, stream, subject);
    }
  }

  /** Returns all objects that have a name, complete or not. */
  async list(): Promise<readonly ObjectInfo[]> {
    const found = await callStore(() => this.#objects.list());
    return found.filter(({ deleted }) => !deleted);
  }

  /** Returns the revision of the name that was written last, as the leader knows it; 0 if there is none. */
  async #lastNaming(): Promise<number> {
    const { streams } = await callStore(() => openJetStreamManager(this.#connection));
    const query = { last_by_subj: `$O.${this.#bucket}.M.>` };
    const last = await callStore(() => streams.getMessage(`OBJ_${this.#bucket}`, query));
    return last?.seq ?? 0;
  }

  #subjectOf(name: string): string {
    return `$O.${this.#bucket}.M.${inBase64Url(Buffer.from(name, "latin1"))}`;
  }

  async #isComplete({ nuid, chunks, deleted }: ObjectInfo): Promise<boolean> {
    if (deleted) return false;
    const subject = `$O.${this.#bucket}.C.${nuid}`;
    const { streamInfo } = await callStore(() =>
      this.#objects.status({ subjects_filter: subject }),
    );
    return (streamInfo.state.subjects?.[subject] ?? 0) === chunks;
  }
}

/** Returns bytes in the encoding of object stores, which has padding. */
function inBase64Url(bytes: Buffer): string {
  return bytes.toString("base64").replaceAll("+", "-").replaceAll("/", "_");
}
