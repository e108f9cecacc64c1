import { setImmediate } from "node:timers/promises";
import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { fromBinary } from "@bufbuild/protobuf";
import { ErrorReason } from "@reeve/contracts/error";
import { storedReadOptions } from "@reeve/contracts/rules/nesting";
import { Notifier } from "@reeve/platform/async/coordination/notifier";
import { sleep } from "@reeve/platform/async/sleep";
import { Failure } from "@reeve/platform/failure";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { Page, PageRequest } from "../table/page.ts";
import { takePage } from "../table/page.ts";
import type { ChangeBatch, KeyedChange, Table, TablePosition } from "../table/port.ts";
import type { Agenda } from "./agenda.ts";
import type { ChangedRows } from "./changed-rows.ts";
import { changedRows } from "./changed-rows.ts";
import type { IndexDatabase } from "./index-database.ts";
import type { IndexedRows, Selection } from "./indexed-rows.ts";
import type { IndexContent, OpenIndex } from "./open-index.ts";
import { applyChange, openIndex } from "./open-index.ts";
import { UnreadableTenants } from "./unreadable-tenants.ts";

/** How long a list waits until the index has reached the table, by default. */
const defaultMaxLagMs = 10_000;
/** How long changes are applied at a time: a change of a large index may read from the disk. */
const maxSliceMs = 10;
/** How long after an error the table is followed again, and after how long a refused caller tries again. */
const retryMs = 1_000;
const retryAfterMs = 5_000;

/** Where a process has its indexes. */
export interface IndexHome {
  /** The folder of their files; see `IndexPlace`. */
  readonly folder: string | undefined;
  readonly log: Pick<Logger, "info" | "warn">;
}

export interface TableIndexOptions<Schema extends DescMessage, Field extends string>
  extends IndexHome, IndexContent<Schema, Field> {
  /** How long a list waits until the index has reached the table. Default: 10 s. */
  readonly maxLagMs?: number;
}

/** Reads from an index, at once. */
type ReadIndex<Item, Field extends string, Result> = (
  rows: IndexedRows<Item, Field>,
  index: OpenIndex<Item, Field>,
) => Result;

/**
 * A local index of a table, from which lists are read at the cost of what they show. Each page includes everything that was
 * written before its request. The index follows the table, and is built again when its file is lost or damaged, or when the
 * table was replaced. While it is being built, lists throw a Failure of kind `unavailable` that states the progress. While a
 * record of a tenant cannot be read, the lists of this tenant throw its Failure, and those of others work.
 */
export class TableIndex<
  Schema extends DescMessage,
  Field extends string,
> implements AsyncDisposable {
  readonly #table: Pick<Table<MessageShape<Schema>>, "position" | "changesAfter">;
  readonly #options: TableIndexOptions<Schema, Field>;
  readonly #signal: AbortSignal;
  readonly #end = new AbortController();
  readonly #progress = new Notifier();
  readonly #unreadable = new UnreadableTenants();
  #following: Promise<void> | undefined;
  /** Since when the table is lost, in monotonic time. Undefined: it is followed. */
  #lostAtMs: number | undefined;
  #index: OpenIndex<MessageShape<Schema>, Field> | undefined;

  /** The index follows the table until `signal` aborts or it is disposed. */
  constructor(
    table: Pick<Table<MessageShape<Schema>>, "position" | "changesAfter">,
    options: TableIndexOptions<Schema, Field>,
    signal: AbortSignal,
  ) {
    this.#table = table;
    this.#options = options;
    this.#signal = AbortSignal.any([signal, this.#end.signal]);
  }

  /** Begins to follow the table. A list does so, too. */
  start(): void {
    this.#following ??= this.#keepFollowing(this.#signal);
  }

  /** The agenda of the records that the index has so far; undefined while it is not open. */
  get agenda(): Agenda | undefined {
    return this.#index?.agenda;
  }

  /** Returns one page of the selected records. */
  async page(
    selection: Selection<Field>,
    request: PageRequest,
    signal: AbortSignal,
  ): Promise<Page<MessageShape<Schema>>> {
    const { items, nextPageToken } = await this.read(
      selection.tenant,
      (rows) =>
        takePage(
          (previous) => rows.select(selection, previous),
          request,
          ({ order }) => order,
          ({ bytes }) => bytes.length,
        ),
      signal,
    );
    const records = items.map(({ bytes }) =>
      fromBinary(this.#options.schema, bytes, storedReadOptions),
    );
    return { items: records, nextPageToken };
  }

  /**
   * Reads the records of a tenant from the index, which has everything that the table had before the call. Throws the Failure of
   * a record of the tenant that cannot be read.
   */
  async read<Result>(
    tenant: string,
    read: ReadIndex<MessageShape<Schema>, Field, Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    return await this.readAt(tenant, await this.position(signal), read, signal);
  }

  /** Returns the place of the last change of the table. */
  async position(signal: AbortSignal): Promise<TablePosition> {
    return await this.#table.position(signal);
  }

  /** As `read`, for what the table had at a position: makes no request to the store. */
  async readAt<Result>(
    tenant: string,
    wanted: TablePosition,
    read: ReadIndex<MessageShape<Schema>, Field, Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    const index = await this.#reach(wanted, signal);
    this.#unreadable.assertReadable(tenant);
    return await this.#reading(wanted, () => read(index.rows, index));
  }

  /**
   * Yields the records of a tenant that changed after a position, in the order of their changes, then each new change, in batches.
   * Makes no request to the store. Of several changes of a record, only the latest may be yielded, and deletions are not. Throws a
   * Failure of kind `unavailable` when the table was replaced, or was lost for as long as a list waits, and that of a record of the tenant
   * that cannot be read.
   */
  async *changesAfter(
    tenant: string,
    after: TablePosition,
    signal: AbortSignal,
  ): AsyncIterable<ChangedRows> {
    this.start();
    using progress = this.#progress.subscribe();
    for (let position = after; ;) {
      signal.throwIfAborted();
      const index = this.#index;
      this.#unreadable.assertReadable(tenant);
      const read = () => index && changedRows(index, tenant, position);
      const changed = await this.#reading(position, read);
      if (changed === undefined) {
        this.#assertFollowing(position);
        await progress.waitFor(this.#maxLagMs, signal);
      } else {
        position = changed.position;
        if (changed.rows.length > 0) yield changed;
      }
    }
  }

  /** Throws a Failure if the table has been lost for so long that a reader must not take it for unchanged. */
  #assertFollowing(position: TablePosition): void {
    const lostMs = this.#lostAtMs === undefined ? 0 : performance.now() - this.#lostAtMs;
    if (lostMs >= this.#maxLagMs) throw this.#behind(position);
  }

  get #maxLagMs(): number {
    return this.#options.maxLagMs ?? defaultMaxLagMs;
  }

  /** Reads from the index. Has it built again when it is damaged. */
  async #reading<Result>(wanted: TablePosition, read: () => Result): Promise<Result> {
    try {
      return read();
    } catch (error) {
      if (error instanceof Failure) throw error;
      this.#warn(error);
      await this.#discard();
      throw this.#behind(wanted);
    }
  }

  async #reach(
    wanted: TablePosition,
    signal: AbortSignal,
  ): Promise<OpenIndex<MessageShape<Schema>, Field>> {
    this.start();
    const deadlineMs = performance.now() + this.#maxLagMs;
    using progress = this.#progress.subscribe();
    for (;;) {
      const index = this.#indexAt(wanted);
      if (index !== undefined) return index;
      const leftMs = deadlineMs - performance.now();
      if (leftMs <= 0) throw this.#behind(wanted);
      await progress.waitFor(leftMs, signal);
    }
  }

  #indexAt(wanted: TablePosition): OpenIndex<MessageShape<Schema>, Field> | undefined {
    const reached = this.#index?.database.position;
    const isThere = reached?.instance === wanted.instance && reached.revision >= wanted.revision;
    return isThere ? this.#index : undefined;
  }

  #behind({ instance, revision }: TablePosition): Failure {
    const { name } = this.#options.definition;
    const reached = this.#index?.database.position;
    const part = reached?.instance === instance ? reached.revision / revision : 0;
    const message = `the list of ${name} is being built: ${Math.floor(part * 100)} %; try again in a few seconds`;
    return new Failure("unavailable", ErrorReason.UNAVAILABLE, message, { retryAfterMs });
  }

  async #keepFollowing(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#follow(signal);
      } catch (error) {
        if (signal.aborted) break;
        this.#lostAtMs ??= performance.now();
        this.#warn(error);
        // An index that only lost its table is kept.
        if (!(error instanceof Failure)) await this.#discard();
        await sleep(retryMs, signal).catch(() => undefined);
      }
    }
    this.#index?.database[Symbol.dispose]();
    this.#index = undefined;
  }

  async #follow(signal: AbortSignal): Promise<void> {
    let index = this.#index ?? (await this.#open());
    const { instance, revision: last } = await this.#positionAfter(index.database, signal);
    if (!isBefore(index.database.position, { instance, revision: last })) {
      await this.#discard();
      index = await this.#open();
    }
    const revision = index.database.position?.revision ?? 0;
    const unreadable = this.#unreadable.rows();
    const { name } = this.#options.definition;
    this.#options.log.info({ index: name, revision, last }, "an index follows its table");
    // A table that tells its position, and no changes, is lost.
    if (revision >= last) this.#lostAtMs = undefined;
    await this.#apply(index, { changes: [], revision }, instance);
    for await (const batch of this.#table.changesAfter(
      { instance, revision, unreadable },
      signal,
    )) {
      await this.#apply(index, batch, instance);
      this.#lostAtMs = undefined;
    }
  }

  /** Returns the position of the table. Asks twice before it says that the table lost changes: a new leader may lag. */
  async #positionAfter(
    { position: reached }: IndexDatabase,
    signal: AbortSignal,
  ): Promise<TablePosition> {
    const position = await this.#table.position(signal);
    if (isBefore(reached, position)) return position;
    await sleep(retryMs, signal);
    return await this.#table.position(signal);
  }

  async #open(): Promise<OpenIndex<MessageShape<Schema>, Field>> {
    this.#index = await openIndex(this.#options, this.#options.folder);
    return this.#index;
  }

  /** Applies a batch in slices, so that the other work of the process never waits long. */
  async #apply(
    index: OpenIndex<MessageShape<Schema>, Field>,
    { changes, revision }: ChangeBatch<MessageShape<Schema>>,
    instance: string,
  ): Promise<void> {
    const { database } = index;
    // A process that ends between two slices applies the whole batch again, which changes nothing twice.
    const before = database.position ?? { instance, revision: 0 };
    let applied = 0;
    do {
      const deadlineMs = performance.now() + maxSliceMs;
      database.writeTo(() => {
        for (const change of changes.slice(applied)) {
          this.#applyChange(index, change);
          applied++;
          if (performance.now() >= deadlineMs) break;
        }
        return applied < changes.length ? before : { instance, revision };
      });
      await setImmediate();
    } while (applied < changes.length);
    this.#progress.notify();
  }

  #applyChange(
    index: OpenIndex<MessageShape<Schema>, Field>,
    change: KeyedChange<MessageShape<Schema>>,
  ): void {
    // A file outlives the process, and would lack the row without saying so.
    if (change.kind === "unreadable" && this.#options.folder !== undefined) throw change.error;
    this.#unreadable.note(change);
    if (change.kind !== "unreadable") applyChange(index, this.#options, change);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort(new DOMException("the index was closed", "AbortError"));
    await this.#following;
  }

  #warn(error: unknown): void {
    const { name } = this.#options.definition;
    this.#options.log.warn({ err: error, index: name }, "an index is not current; trying again");
  }

  async #discard(): Promise<void> {
    const index = this.#index;
    this.#index = undefined;
    this.#unreadable.clear();
    await index?.database.discard();
  }
}

/** Returns whether an index of this position lacks nothing but changes after it. A store may have lost its last changes. */
function isBefore(position: TablePosition | undefined, table: TablePosition): boolean {
  if (position === undefined) return true;
  return position.instance === table.instance && position.revision <= table.revision;
}
