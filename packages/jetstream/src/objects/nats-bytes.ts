import { ReadableStream } from "node:stream/web";
import { jetstreamManager } from "@nats-io/jetstream";
import type { ObjectInfo, ObjectResult, ObjectStore } from "@nats-io/obj";
import { Objm } from "@nats-io/obj";
import type { NatsConnection } from "@nats-io/transport-node";
import { retryRead } from "../table/retry-read.ts";
import { callStore } from "../streams/call-store.ts";
import { isConflict, storeFailure } from "../streams/errors.ts";

/** How long the store may take to acknowledge one chunk. */
const chunkTimeoutMs = 10_000;

/** Opens the object store `bucket`, and makes it where it is missing. */
export async function openBytes(connection: NatsConnection, bucket: string): Promise<NatsBytes> {
  const objects = await callStore(() => new Objm(connection).create(bucket));
  return new NatsBytes(connection, bucket, objects);
}

/** Bytes by name, each name written once, in the object store of one bucket. */
export class NatsBytes {
  readonly #connection: NatsConnection;
  readonly #bucket: string;
  readonly #objects: ObjectStore;

  constructor(connection: NatsConnection, bucket: string, objects: ObjectStore) {
    this.#connection = connection;
    this.#bucket = bucket;
    this.#objects = objects;
  }

  /** What is stored whole under `name`. */
  async find(name: string, signal: AbortSignal): Promise<ObjectInfo | undefined> {
    const look = async () => {
      const info = await this.#objects.info(name);
      return info !== null && (await this.#isWhole(info)) ? info : undefined;
    };
    return retryRead(this.#connection, look, signal);
  }

  /**
   * Stores bytes under a name that has none, with a note. Undefined: somebody else was first. Whatever `content` throws is
   * thrown, and nothing stays.
   */
  async write(
    name: string,
    metadata: Record<string, string>,
    content: AsyncIterable<Uint8Array>,
  ): Promise<ObjectInfo | undefined> {
    const there = await callStore(() => this.#objects.info(name));
    if (there !== null && (await this.#isWhole(there))) return undefined;
    // A writer that heard no acknowledgement may have left a name without its bytes; that one is replaced.
    const options = { timeout: chunkTimeoutMs, previousRevision: there?.revision ?? 0 };
    let refusal: { readonly reason: unknown } | undefined;
    const guarded = async function* () {
      try {
        yield* content;
      } catch (reason) {
        refusal = { reason };
        throw reason;
      }
    };
    try {
      const chunks = ReadableStream.from(guarded());
      return await this.#objects.put({ name, metadata }, chunks, options);
    } catch (error) {
      if (refusal !== undefined) throw refusal.reason;
      if (isConflict(error)) return undefined;
      throw storeFailure(error);
    }
  }

  /** The bytes, in chunks. Undefined: there are none of this name. */
  async read(name: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array> | undefined> {
    // An object that lost a chunk would be waited for without end.
    if ((await this.find(name, signal)) === undefined) return undefined;
    const object = await callStore(() => this.#objects.get(name));
    if (object === null) return undefined;
    object.error.catch(() => undefined);
    return chunksOf(object, signal);
  }

  /** Takes away what is stored under a name, also when it is not whole. No trace of the name stays. */
  async remove(name: string): Promise<void> {
    const stream = `OBJ_${this.#bucket}`;
    await callStore(async () => {
      const info = await this.#objects.info(name);
      if (info === null) return;
      const { streams } = await jetstreamManager(this.#connection);
      // The name last: whoever lists names finds what was left half removed.
      await streams.purge(stream, { filter: `$O.${this.#bucket}.C.${info.nuid}` });
      const encoded = Buffer.from(name, "latin1").toString("base64").replaceAll("+", "-");
      const subject = `$O.${this.#bucket}.M.${encoded.replaceAll("/", "_")}`;
      await streams.purge(stream, { filter: subject });
    });
  }

  /** Takes away bytes that have no name, and were written more than `olderThanMs` ago. */
  async cleanUp(olderThanMs: number, signal: AbortSignal): Promise<void> {
    const { streams } = await callStore(() => jetstreamManager(this.#connection));
    const stream = `OBJ_${this.#bucket}`;
    const all = `$O.${this.#bucket}.C.>`;
    // Chunks first: whose name is written later is not mistaken for nobody's.
    const info = await callStore(() => streams.info(stream, { subjects_filter: all }));
    const chunks = Object.keys(info.state.subjects ?? {});
    const named = new Set((await this.list()).map(({ nuid }) => `$O.${this.#bucket}.C.${nuid}`));
    for (const subject of chunks.filter((each) => !named.has(each))) {
      signal.throwIfAborted();
      const last = await callStore(() => streams.getMessage(stream, { last_by_subj: subject }));
      if (last === null || Date.now() - last.time.getTime() < olderThanMs) continue;
      await callStore(() => streams.purge(stream, { filter: subject }));
    }
  }

  /** Everything that has a name, whole or not. */
  async list(): Promise<readonly ObjectInfo[]> {
    const found = await callStore(() => this.#objects.list());
    return found.filter(({ deleted }) => !deleted);
  }

  async #isWhole({ nuid, chunks, deleted }: ObjectInfo): Promise<boolean> {
    if (deleted) return false;
    const subject = `$O.${this.#bucket}.C.${nuid}`;
    const { streamInfo } = await callStore(() =>
      this.#objects.status({ subjects_filter: subject }),
    );
    return (streamInfo.state.subjects?.[subject] ?? 0) === chunks;
  }
}

async function* chunksOf({ data }: ObjectResult, signal: AbortSignal): AsyncIterable<Uint8Array> {
  const reader = data.getReader();
  // Cancelling also ends a read that is under way.
  const cancel = () => reader.cancel().catch(() => undefined);
  const abort = () => void cancel();
  signal.addEventListener("abort", abort, { once: true });
  try {
    signal.throwIfAborted();
    for (;;) {
      const { done, value } = await callStore(() => reader.read());
      signal.throwIfAborted();
      if (done) return;
      if (value.length > 0) yield value;
    }
  } finally {
    signal.removeEventListener("abort", abort);
    await cancel();
  }
}
