import { ErrorReason } from "@reeve/contracts/error";
import type { Change, ChangeBatch, ReadPosition, Row, Table, TablePosition } from "../port.ts";
import { abortable } from "@reeve/platform/async/abortable";
import { settledWithin } from "@reeve/platform/async/settled-within";
import { Failure } from "@reeve/platform/failure";

/** How long a call waits for the table. Less than a client waits for an answer. */
const maxWaitMs = 2_000;

/**
 * A table that opens beside a service that does without it. Until it is open, each call waits for `maxWaitMs` and then throws a Failure of
 * kind `unavailable` that says how to create it. An attempt that fails is repeated by the next call.
 */
export class LaterTable<Record> implements Table<Record> {
  readonly #open: () => Promise<Table<Record>>;
  readonly #name: string;
  #opening: Promise<Table<Record>> | undefined;

  constructor(name: string, open: () => Promise<Table<Record>>) {
    this.#name = name;
    this.#open = open;
  }

  /** Waits until the table is open, however long that takes. Rejects as opening does. */
  async opened(signal: AbortSignal): Promise<void> {
    await abortable(this.#start(), signal);
  }

  async get(key: string, signal: AbortSignal): Promise<Row<Record> | undefined> {
    return await (await this.#table(signal)).get(key, signal);
  }

  async create(key: string, record: Record, signal: AbortSignal): Promise<Row<Record> | undefined> {
    return await (await this.#table(signal)).create(key, record, signal);
  }

  async createFirst(
    key: string,
    record: Record,
    signal: AbortSignal,
  ): Promise<Row<Record> | undefined> {
    return await (await this.#table(signal)).createFirst(key, record, signal);
  }

  async update(
    key: string,
    record: Record,
    revision: number,
    signal: AbortSignal,
  ): Promise<Row<Record> | undefined> {
    return await (await this.#table(signal)).update(key, record, revision, signal);
  }

  async put(key: string, record: Record, signal: AbortSignal): Promise<Row<Record>> {
    return await (await this.#table(signal)).put(key, record, signal);
  }

  async delete(key: string, signal: AbortSignal): Promise<void> {
    await (await this.#table(signal)).delete(key, signal);
  }

  async deleteVersion(key: string, revision: number, signal: AbortSignal): Promise<boolean> {
    return await (await this.#table(signal)).deleteVersion(key, revision, signal);
  }

  async list(prefix: string, signal: AbortSignal): Promise<readonly Row<Record>[]> {
    return await (await this.#table(signal)).list(prefix, signal);
  }

  async *watch(prefix: string, signal: AbortSignal): AsyncIterable<Change<Record>> {
    yield* (await this.#table(signal)).watch(prefix, signal);
  }

  async position(signal: AbortSignal): Promise<TablePosition> {
    return await (await this.#table(signal)).position(signal);
  }

  async *changesAfter(
    position: ReadPosition,
    signal: AbortSignal,
  ): AsyncIterable<ChangeBatch<Record>> {
    yield* (await this.#table(signal)).changesAfter(position, signal);
  }

  async #table(signal: AbortSignal): Promise<Table<Record>> {
    const opening = this.#start();
    if (await settledWithin(opening, maxWaitMs, signal)) return await opening;
    const message = `the bucket ${this.#name} is not open yet; try again later; if this lasts, run \`reeve provision\` of this version as the operator, and give NATS the users of this version`;
    throw new Failure("unavailable", ErrorReason.UNAVAILABLE, message);
  }

  #start(): Promise<Table<Record>> {
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }
}
