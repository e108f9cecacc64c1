import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { fromBinary } from "@bufbuild/protobuf";
import { ErrorReason } from "@reeve/contracts/error";
import { storedReadOptions } from "@reeve/contracts/rules/nesting";
import { Failure } from "@reeve/platform/failure";
import type { Page, PageRequest } from "../table/page.ts";
import { takePage } from "../table/page.ts";
import type { TablePosition } from "../table/port.ts";
import type { Agenda } from "./agenda.ts";
import type { ChangedRows } from "./changed-rows.ts";
import { changedRows } from "./changed-rows.ts";
import type { FollowedIndexOptions, FollowedTable } from "./followed-index.ts";
import { FollowedIndex } from "./followed-index.ts";
import type { IndexedRows, Selection } from "./indexed-rows.ts";
import type { OpenIndex } from "./open-index.ts";

/** How long a list waits until the index has reached the table, by default. */
const defaultMaxLagMs = 10_000;
/** After how long a refused caller tries again. */
const retryAfterMs = 5_000;

export interface TableIndexOptions<
  Schema extends DescMessage,
  Field extends string,
> extends FollowedIndexOptions<Schema, Field> {
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
  readonly #table: FollowedTable<MessageShape<Schema>>;
  readonly #options: TableIndexOptions<Schema, Field>;
  readonly #followed: FollowedIndex<Schema, Field>;

  /** The index follows the table until `signal` aborts or it is disposed. */
  constructor(
    table: FollowedTable<MessageShape<Schema>>,
    options: TableIndexOptions<Schema, Field>,
    signal: AbortSignal,
  ) {
    this.#table = table;
    this.#options = options;
    this.#followed = new FollowedIndex(table, options, signal);
  }

  /** Begins to follow the table. A list does so, too. */
  start(): void {
    this.#followed.start();
  }

  /** The agenda of the records that the index has so far; undefined while it is not open. */
  get agenda(): Agenda | undefined {
    return this.#followed.current?.agenda;
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
    this.#followed.unreadable.assertReadable(tenant);
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
    using progress = this.#followed.progress.subscribe();
    for (let position = after; ;) {
      signal.throwIfAborted();
      const index = this.#followed.current;
      this.#followed.unreadable.assertReadable(tenant);
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
    if (this.#followed.lostMs >= this.#maxLagMs) throw this.#behind(position);
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
      await this.#followed.drop(error);
      throw this.#behind(wanted);
    }
  }

  async #reach(
    wanted: TablePosition,
    signal: AbortSignal,
  ): Promise<OpenIndex<MessageShape<Schema>, Field>> {
    this.start();
    const deadlineMs = performance.now() + this.#maxLagMs;
    using progress = this.#followed.progress.subscribe();
    for (;;) {
      const index = this.#indexAt(wanted);
      if (index !== undefined) return index;
      const leftMs = deadlineMs - performance.now();
      if (leftMs <= 0) throw this.#behind(wanted);
      await progress.waitFor(leftMs, signal);
    }
  }

  #indexAt(wanted: TablePosition): OpenIndex<MessageShape<Schema>, Field> | undefined {
    const reached = this.#followed.current?.database.position;
    const isThere = reached?.instance === wanted.instance && reached.revision >= wanted.revision;
    return isThere ? this.#followed.current : undefined;
  }

  #behind({ instance, revision }: TablePosition): Failure {
    const { name } = this.#options.definition;
    const reached = this.#followed.current?.database.position;
    const part = reached?.instance === instance ? reached.revision / revision : 0;
    const message = `the list of ${name} is being built: ${Math.floor(part * 100)} %; try again in a few seconds`;
    return new Failure("unavailable", ErrorReason.UNAVAILABLE, message, { retryAfterMs });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#followed[Symbol.asyncDispose]();
  }
}
