import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import type { StreamAPI } from "@nats-io/jetstream";
import { jetstreamManager } from "@nats-io/jetstream";
import type { KV, KvEntry } from "@nats-io/kv";
import { Kvm } from "@nats-io/kv";
import type { NatsConnection } from "@nats-io/transport-node";
import { bucketOf } from "@reeve/contracts/channel";
import { storedReadOptions } from "@reeve/contracts/nesting";
import { patiently } from "@reeve/platform/async/patiently";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import { BucketRequests } from "./bucket-requests.ts";
import { maxRetryMs, retryRead } from "./retry-read.ts";
import { Silence } from "./silence.ts";
import { callStore } from "../streams/call-store.ts";
import { storeFailure } from "../streams/errors.ts";
import type { Change, Row, Table } from "./port.ts";

/**
 * How often a list looks whether more was written while it was read. Each look follows a reading of all that the one before
 * saw; without a bound, steady writers could keep a list from its end.
 */
const maxLooks = 10;
/** How long a watch may hear nothing before it has heard everything that is stored. */
const maxSilenceMs = 2_000;

/** Opens the bucket that `schema` declares, and makes it where it is missing. */
export async function openTable<Schema extends DescMessage>(
  { connection }: { readonly connection: NatsConnection },
  schema: Schema,
): Promise<Table<MessageShape<Schema>>> {
  const { name, history, maxAgeMs } = bucketOf(schema);
  // Direct reads may be answered by a replica that lags; whoever has written must read it.
  const options = {
    history,
    allow_direct: false,
    ...(maxAgeMs !== undefined && { ttl: maxAgeMs }),
  };
  const bucket = await callStore(() => new Kvm(connection).create(name, options));
  const { streams } = await callStore(() => jetstreamManager(connection));
  return new NatsTable(connection, bucket, streams, schema);
}

class NatsTable<Schema extends DescMessage> implements Table<MessageShape<Schema>> {
  readonly #connection: NatsConnection;
  readonly #bucket: KV;
  readonly #requests: BucketRequests;
  readonly #streams: StreamAPI;
  readonly #schema: Schema;

  constructor(connection: NatsConnection, bucket: KV, streams: StreamAPI, schema: Schema) {
    this.#connection = connection;
    this.#bucket = bucket;
    this.#requests = new BucketRequests(connection, bucketOf(schema).name);
    this.#streams = streams;
    this.#schema = schema;
  }

  async get(key: string, signal: AbortSignal): Promise<Row<MessageShape<Schema>> | undefined> {
    const patience = this.#connection.isClosed() ? 0 : maxRetryMs;
    const stored = await patiently(() => this.#requests.get(key), patience, signal);
    if (stored === undefined) return undefined;
    const { bytes, revision } = stored;
    return { key, record: fromBinary(this.#schema, bytes, storedReadOptions), revision };
  }

  async create(
    key: string,
    record: MessageShape<Schema>,
    signal: AbortSignal,
  ): Promise<Row<MessageShape<Schema>> | undefined> {
    const row = await this.update(key, record, 0, signal);
    if (row !== undefined) return row;
    // The key may be one that was deleted; its deletion is then the version to replace.
    const data = toBinary(this.#schema, record);
    const write = () => this.#bucket.create(key, data);
    const revision = await callStore(write, "undefined_on_conflict");
    return revision === undefined ? undefined : { key, record, revision };
  }

  async update(
    key: string,
    record: MessageShape<Schema>,
    expected: number,
    signal: AbortSignal,
  ): Promise<Row<MessageShape<Schema>> | undefined> {
    signal.throwIfAborted();
    const revision = await this.#requests.write(key, toBinary(this.#schema, record), expected);
    return revision === undefined ? undefined : { key, record, revision };
  }

  async put(
    key: string,
    record: MessageShape<Schema>,
    signal: AbortSignal,
  ): Promise<Row<MessageShape<Schema>>> {
    signal.throwIfAborted();
    const revision = await this.#requests.write(key, toBinary(this.#schema, record));
    if (revision === undefined)
      throw storeUnavailable(new Error(`${key} was compared with nothing`));
    return { key, record, revision };
  }

  async delete(key: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await callStore(() => this.#bucket.delete(key));
  }

  async deleteVersion(key: string, revision: number, signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted();
    const deleted = await callStore(async () => {
      await this.#bucket.delete(key, { previousSeq: revision });
      return true;
    }, "undefined_on_conflict");
    return deleted ?? false;
  }

  async list(prefix: string, signal: AbortSignal): Promise<readonly Row<MessageShape<Schema>>[]> {
    const read = (until: AbortSignal) => this.#latest(prefix, until);
    const entries = await retryRead(this.#connection, read, signal);
    return entries
      .filter(({ operation }) => operation === "PUT")
      .map((entry) => this.#row(entry))
      .toSorted((a, b) => (a.key < b.key ? -1 : 1));
  }

  async *watch(prefix: string, signal: AbortSignal): AsyncIterable<Change<MessageShape<Schema>>> {
    const reached = await this.lastRevision(prefix, signal);
    if (reached === 0) {
      yield { kind: "current", revision: reached };
      for await (const entry of this.#entries(prefix, signal)) yield this.#changeOf(entry);
    }
    let isCurrent = false;
    while (!isCurrent) {
      // Of a store that has just started a watch may hear nothing for long. One that is opened again begins anew.
      const silence = new Silence(maxSilenceMs, signal);
      try {
        for await (const entry of this.#entries(prefix, silence.signal)) {
          silence.pause();
          yield this.#changeOf(entry);
          if (!isCurrent && entry.revision >= reached) {
            isCurrent = true;
            yield { kind: "current", revision: reached };
          }
          if (!isCurrent) silence.listen();
        }
      } catch (error) {
        if (!silence.isOver) throw error;
      } finally {
        silence.pause();
      }
    }
  }

  async lastRevision(prefix: string, signal: AbortSignal): Promise<number> {
    const look = () => this.#lastRevision(prefix);
    return (await retryRead(this.#connection, look, signal)) ?? 0;
  }

  /** The last entry of every key. */
  async #latest(prefix: string, signal: AbortSignal): Promise<readonly KvEntry[]> {
    let end = await this.#lastRevision(prefix);
    // A watch of nothing says nothing at all, so that its end could not be told from a slow start.
    if (end === undefined) return [];
    const latest = new Map<string, KvEntry>();
    let looks = 0;
    for await (const entry of this.#entries(prefix, signal)) {
      latest.set(entry.key, entry);
      // The server may count an entry that was written over or deleted meanwhile, which never comes: it then never says that
      // none is left. So whoever has what was last looks again, until that is still the last.
      if (entry.delta === 0) break;
      if (entry.revision < end) continue;
      end = (await this.#lastRevision(prefix)) ?? 0;
      if (entry.revision >= end || ++looks === maxLooks) break;
    }
    return [...latest.values()];
  }

  /** Of the last entry of all keys below `prefix`, a deletion too. Undefined: nothing was ever written there. */
  async #lastRevision(prefix: string): Promise<number | undefined> {
    const { name } = bucketOf(this.#schema);
    const query = { last_by_subj: `$KV.${name}.${filterOf(prefix)}` };
    return (await this.#streams.getMessage(`KV_${name}`, query))?.seq;
  }

  /** The latest entry of every key, then new ones, for ever. */
  async *#entries(prefix: string, signal: AbortSignal): AsyncIterable<KvEntry> {
    const entries = await callStore(() => this.#bucket.watch({ key: filterOf(prefix) }));
    const stop = () => entries.stop();
    signal.addEventListener("abort", stop, { once: true });
    try {
      signal.throwIfAborted();
      yield* entries;
      signal.throwIfAborted();
    } finally {
      signal.removeEventListener("abort", stop);
      entries.stop();
    }
    throw storeFailure(new Error("the watch ended"));
  }

  #changeOf(entry: KvEntry): Change<MessageShape<Schema>> {
    return entry.operation === "PUT"
      ? { kind: "written", row: this.#row(entry) }
      : { kind: "deleted", key: entry.key, revision: entry.revision };
  }

  #row({ key, value, revision }: KvEntry): Row<MessageShape<Schema>> {
    return { key, record: fromBinary(this.#schema, value, storedReadOptions), revision };
  }
}

function filterOf(prefix: string): string {
  return prefix === "" ? ">" : `${prefix}.>`;
}
