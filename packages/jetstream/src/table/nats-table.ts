import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { StreamAPI } from "@nats-io/jetstream";
import type { KV, KvEntry } from "@nats-io/kv";
import type { NatsConnection } from "@nats-io/transport-node";
import { bucketOf } from "@reeve/contracts/channel";
import { IdleTimeout } from "@reeve/platform/async/idle-timeout";
import { retryUnavailable } from "@reeve/platform/async/retry/retry-unavailable";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import { payloadCipherOf } from "../sealing/payload-cipher.ts";
import { bucketChanges, bucketPosition } from "./bucket-changes.ts";
import { BucketEntries } from "./bucket-entries.ts";
import { bucketReplaced, readBucketInstance } from "./bucket-instance.ts";
import { BucketRequests } from "./bucket-requests.ts";
import { CatchUp } from "./catch-up.ts";
import { readLatestEntries } from "./latest-entries.ts";
import { RecordCodec } from "./record-codec.ts";
import { readRetryLimits, retryRead } from "./retry-read.ts";
import { callStore } from "../streams/call-store.ts";
import { callWithReserve } from "../reserve/spend-reserve.ts";
import type { TableSource } from "./retry-unreadable.ts";
import { retryUnreadable, sourceOfBatches, sourceOfChanges } from "./retry-unreadable.ts";
import type { RetryDelays, WaitingRow } from "./unreadable-rows.ts";
import type {
  Change,
  ChangeBatch,
  ReadPosition,
  Row,
  Table,
  TableHistory,
  TablePosition,
  Version,
} from "./port.ts";
import { readVersions } from "./versions.ts";

/** How long a watch may receive nothing before it has received everything that is stored. */
const idleTimeoutMs = 2_000;

/** What a table is made of. */
export interface OpenBucket<Schema> {
  readonly bucket: KV;
  readonly streams: StreamAPI;
  readonly schema: Schema;
  /** Whether rows may use the reserve of a full store. */
  readonly usesReserve: boolean;
  readonly delays: RetryDelays;
}

/** Records in a bucket of JetStream. */
export class NatsTable<Schema extends DescMessage>
  implements Table<MessageShape<Schema>>, TableHistory<MessageShape<Schema>>
{
  readonly #connection: NatsConnection;
  readonly #bucket: KV;
  readonly #requests: BucketRequests;
  readonly #stored: BucketEntries;
  readonly #streams: StreamAPI;
  readonly #schema: Schema;
  readonly #usesReserve: boolean;
  readonly #records: RecordCodec<Schema>;
  readonly #delays: RetryDelays;

  constructor(
    connection: NatsConnection,
    { bucket, streams, schema, usesReserve, delays }: OpenBucket<Schema>,
  ) {
    this.#connection = connection;
    this.#bucket = bucket;
    this.#usesReserve = usesReserve;
    this.#requests = new BucketRequests(connection, bucketOf(schema).name, usesReserve);
    this.#streams = streams;
    this.#stored = new BucketEntries(connection, { bucket, streams, name: bucketOf(schema).name });
    this.#schema = schema;
    this.#records = new RecordCodec(schema, payloadCipherOf(connection));
    this.#delays = delays;
  }

  async get(key: string, signal: AbortSignal): Promise<Row<MessageShape<Schema>> | undefined> {
    const limits = readRetryLimits(this.#connection);
    const stored = await retryUnavailable(() => this.#requests.get(key), limits, signal);
    if (stored === undefined) return undefined;
    const { bytes: value, revision } = stored;
    return await this.#records.row({ key, value, revision }, signal);
  }

  async create(
    key: string,
    record: MessageShape<Schema>,
    signal: AbortSignal,
  ): Promise<Row<MessageShape<Schema>> | undefined> {
    const row = await this.createFirst(key, record, signal);
    if (row !== undefined) return row;
    // If the key was deleted, its deletion is the version to replace.
    const data = await this.#records.encode(key, record, signal);
    const createAgain = () => this.#bucket.create(key, data);
    const write = this.#usesReserve
      ? () => callWithReserve(this.#connection, createAgain)
      : createAgain;
    const revision = await callStore(write, "undefined_on_conflict");
    return revision === undefined ? undefined : { key, record, revision };
  }

  createFirst(key: string, record: MessageShape<Schema>, signal: AbortSignal) {
    return this.update(key, record, 0, signal);
  }

  async update(
    key: string,
    record: MessageShape<Schema>,
    expected: number,
    signal: AbortSignal,
  ): Promise<Row<MessageShape<Schema>> | undefined> {
    signal.throwIfAborted();
    const data = await this.#records.encode(key, record, signal);
    const revision = await this.#requests.write(key, data, expected);
    return revision === undefined ? undefined : { key, record, revision };
  }

  async put(
    key: string,
    record: MessageShape<Schema>,
    signal: AbortSignal,
  ): Promise<Row<MessageShape<Schema>>> {
    signal.throwIfAborted();
    const data = await this.#records.encode(key, record, signal);
    const revision = await this.#requests.write(key, data);
    if (revision === undefined)
      throw storeUnavailable(
        new Error(`the store reported a conflict for ${key}, which was written unconditionally`),
      );
    return { key, record, revision };
  }

  async delete(key: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const remove = () => callWithReserve(this.#connection, () => this.#bucket.delete(key));
    await callStore(remove);
  }

  async deleteVersion(key: string, revision: number, signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted();
    const remove = () => this.#bucket.delete(key, { previousSeq: revision });
    const deleted = await callStore(async () => {
      await callWithReserve(this.#connection, remove);
      return true;
    }, "undefined_on_conflict");
    return deleted ?? false;
  }

  async *versions(
    key: string,
    { before = Infinity }: { readonly before?: number | undefined },
    signal: AbortSignal,
  ): AsyncIterable<Version<MessageShape<Schema>>> {
    const read = (until: AbortSignal) => readVersions(this.#bucket, key, until);
    const written = await retryRead(this.#connection, read, signal);
    for (const [age, entry] of written.toReversed().entries()) {
      if (entry.revision >= before) continue;
      yield age === 0
        ? { kind: "written", row: await this.#records.row(entry, signal) }
        : await this.#records.version(entry, signal);
    }
  }

  async list(prefix: string, signal: AbortSignal): Promise<readonly Row<MessageShape<Schema>>[]> {
    const keys = {
      lastRevision: () => this.#stored.readLastRevision(prefix),
      entries: (until: AbortSignal) => this.#stored.watch(prefix, until),
    };
    const read = (until: AbortSignal) => readLatestEntries(keys, until);
    const entries = await retryRead(this.#connection, read, signal);
    const written = entries.filter(({ operation }) => operation === "PUT");
    const rows = await Promise.all(written.map((entry) => this.#listed(prefix, entry, signal)));
    return rows.filter((row) => row !== undefined).toSorted((a, b) => (a.key < b.key ? -1 : 1));
  }

  async #listed(prefix: string, entry: KvEntry, signal: AbortSignal) {
    if (prefix !== "") return await this.#records.row(entry, signal);
    const change = await this.#records.change(entry, signal);
    return change.kind === "written" ? change.row : undefined;
  }

  async *watch(prefix: string, signal: AbortSignal): AsyncIterable<Change<MessageShape<Schema>>> {
    const { name } = bucketOf(this.#schema);
    const read = () => readBucketInstance(this.#streams, name);
    const instance = await retryRead(this.#connection, read, signal);
    const end = new AbortController();
    const replaced = new AbortController();
    void bucketReplaced(this.#streams, name, instance, AbortSignal.any([signal, end.signal])).then(
      () => replaced.abort(storeUnavailable(new Error(`bucket ${name} was deleted`))),
      () => undefined,
    );
    try {
      const until = AbortSignal.any([signal, replaced.signal]);
      if (prefix !== "") yield* this.#changes(prefix, until);
      else
        yield* this.#retrying(
          sourceOfChanges((opened) => this.#changes(prefix, opened)),
          until,
        );
    } finally {
      end.abort();
    }
  }

  async *#changes(
    prefix: string,
    signal: AbortSignal,
  ): AsyncIterable<Change<MessageShape<Schema>>> {
    let isCurrent = false;
    while (!isCurrent) {
      // Read again for each attempt: the last entry may expire before it is received.
      const last = await this.#stored.lastRevision(prefix, signal);
      if (last === 0) {
        yield { kind: "current", revision: last };
        for await (const entry of this.#stored.watch(prefix, signal))
          yield await this.#changeOf(entry, prefix, signal);
      }
      const catchUp = new CatchUp(last, () => this.#stored.lastRevision(prefix, signal));
      // A watch of a store that has just started may receive nothing for long. Opened again, it starts from the beginning.
      using idle = new IdleTimeout({ timeoutMs: idleTimeoutMs }, signal);
      try {
        for await (const entry of this.#stored.watch(prefix, idle.signal)) {
          idle.pause();
          yield await this.#changeOf(entry, prefix, signal);
          if (!isCurrent && (await catchUp.isDoneWith(entry))) {
            isCurrent = true;
            yield { kind: "current", revision: last };
          }
          if (!isCurrent) idle.restart();
        }
      } catch (error) {
        if (!idle.isExpired) throw error;
      }
    }
  }

  async position(signal: AbortSignal): Promise<TablePosition> {
    const { name } = bucketOf(this.#schema);
    const read = () => bucketPosition({ streams: this.#streams }, name);
    return await retryRead(this.#connection, read, signal);
  }

  async *changesAfter(
    position: ReadPosition,
    signal: AbortSignal,
  ): AsyncIterable<ChangeBatch<MessageShape<Schema>>> {
    const source = sourceOfBatches(position, (until) => this.#batchesAfter(position, until));
    yield* this.#retrying(source, signal);
  }

  async *#batchesAfter(
    position: TablePosition,
    signal: AbortSignal,
  ): AsyncIterable<ChangeBatch<MessageShape<Schema>>> {
    const { name } = bucketOf(this.#schema);
    const batches = bucketChanges(this.#connection, name, position, signal);
    for await (const { entries, revision } of batches) {
      const changes = entries.map((entry) => this.#records.change(entry, signal));
      yield { changes: await Promise.all(changes), revision };
    }
  }

  #retrying<Item>(
    source: TableSource<Item, MessageShape<Schema>>,
    signal: AbortSignal,
  ): AsyncIterable<Item> {
    // The leader answers: the row is not older than what was yielded.
    const read = async ({ key, revision }: WaitingRow) => {
      const limits = readRetryLimits(this.#connection);
      const stored = await retryUnavailable(() => this.#requests.get(key), limits, signal);
      if (stored !== undefined && stored.revision !== revision) return undefined;
      return await this.#records.change({ key, value: stored?.bytes, revision }, signal);
    };
    return retryUnreadable({ ...source, delays: this.#delays, read }, signal);
  }

  async #changeOf(
    { operation, key, value, revision }: KvEntry,
    prefix: string,
    signal: AbortSignal,
  ): Promise<Change<MessageShape<Schema>>> {
    const entry = { key, value: operation === "PUT" ? value : undefined, revision };
    const change = await this.#records.change(entry, signal);
    if (change.kind === "unreadable" && prefix !== "") throw change.error;
    return change;
  }
}
