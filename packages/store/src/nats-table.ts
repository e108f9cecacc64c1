import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import type { KV, KvEntry } from "@nats-io/kv";
import { Kvm } from "@nats-io/kv";
import type { NatsConnection } from "@nats-io/transport-node";
import { bucketOf } from "@reeve/contracts/channel";
import { storeCall, storeFailure } from "./store-call.ts";
import type { Change, Row, Table } from "./table.ts";

/** Opens the bucket that `schema` declares, and makes it where it is missing. */
export async function openTable<Schema extends DescMessage>(
  { connection }: { readonly connection: NatsConnection },
  schema: Schema,
): Promise<Table<MessageShape<Schema>>> {
  const { name, history } = bucketOf(schema);
  const bucket = await storeCall(() => new Kvm(connection).create(name, { history }));
  return new NatsTable(bucket, schema);
}

class NatsTable<Schema extends DescMessage> implements Table<MessageShape<Schema>> {
  readonly #bucket: KV;
  readonly #schema: Schema;

  constructor(bucket: KV, schema: Schema) {
    this.#bucket = bucket;
    this.#schema = schema;
  }

  async get(key: string, signal: AbortSignal): Promise<Row<MessageShape<Schema>> | undefined> {
    signal.throwIfAborted();
    const entry = await storeCall(() => this.#bucket.get(key));
    return entry === null || entry.operation !== "PUT" ? undefined : this.#row(entry);
  }

  create(key: string, record: MessageShape<Schema>, signal: AbortSignal) {
    return this.#compareAndWrite(key, record, signal, (data) => this.#bucket.create(key, data));
  }

  update(key: string, record: MessageShape<Schema>, revision: number, signal: AbortSignal) {
    return this.#compareAndWrite(key, record, signal, (data) =>
      this.#bucket.update(key, data, revision),
    );
  }

  async put(
    key: string,
    record: MessageShape<Schema>,
    signal: AbortSignal,
  ): Promise<Row<MessageShape<Schema>>> {
    signal.throwIfAborted();
    const data = toBinary(this.#schema, record);
    return { key, record, revision: await storeCall(() => this.#bucket.put(key, data)) };
  }

  async delete(key: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await storeCall(() => this.#bucket.delete(key));
  }

  async list(prefix: string, signal: AbortSignal): Promise<readonly Row<MessageShape<Schema>>[]> {
    signal.throwIfAborted();
    return await storeCall(async () => {
      // A watch of nothing says nothing; keys are counted first.
      for await (const _ of await this.#bucket.keys(filterOf(prefix)))
        return await this.#all(prefix);
      return [];
    });
  }

  async *watch(prefix: string, signal: AbortSignal): AsyncIterable<Change<MessageShape<Schema>>> {
    const there = await this.list(prefix, signal);
    const reached = Math.max(0, ...there.map(({ revision }) => revision));
    const entries = await storeCall(() => this.#bucket.watch({ key: filterOf(prefix) }));
    const stop = () => entries.stop();
    signal.addEventListener("abort", stop, { once: true });
    try {
      let isCurrent = reached === 0;
      if (isCurrent) yield { kind: "current" };
      for await (const entry of entries) {
        yield entry.operation === "PUT"
          ? { kind: "written", row: this.#row(entry) }
          : { kind: "deleted", key: entry.key };
        if (!isCurrent && entry.revision >= reached) {
          isCurrent = true;
          yield { kind: "current" };
        }
      }
    } finally {
      signal.removeEventListener("abort", stop);
      entries.stop();
    }
    signal.throwIfAborted();
    throw storeFailure(new Error("the watch ended"));
  }

  async #all(prefix: string): Promise<readonly Row<MessageShape<Schema>>[]> {
    const rows = new Map<string, Row<MessageShape<Schema>>>();
    for await (const entry of await this.#bucket.watch({ key: filterOf(prefix) })) {
      if (entry.operation === "PUT") rows.set(entry.key, this.#row(entry));
      else rows.delete(entry.key);
      if (entry.delta === 0) break;
    }
    return [...rows.values()].toSorted((a, b) => (a.key < b.key ? -1 : 1));
  }

  async #compareAndWrite(
    key: string,
    record: MessageShape<Schema>,
    signal: AbortSignal,
    write: (data: Uint8Array) => Promise<number>,
  ): Promise<Row<MessageShape<Schema>> | undefined> {
    signal.throwIfAborted();
    const data = toBinary(this.#schema, record);
    const revision = await storeCall(() => write(data), "undefined_on_conflict");
    return revision === undefined ? undefined : { key, record, revision };
  }

  #row({ key, value, revision }: KvEntry): Row<MessageShape<Schema>> {
    return { key, record: fromBinary(this.#schema, value), revision };
  }
}

function filterOf(prefix: string): string {
  return prefix === "" ? ">" : `${prefix}.>`;
}
