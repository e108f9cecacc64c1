import { setImmediate } from "node:timers/promises";
import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { Notifier } from "@reeve/platform/async/coordination/notifier";
import { sleep } from "@reeve/platform/async/sleep";
import { Failure } from "@reeve/platform/failure";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { ChangeBatch, KeyedChange, Table, TablePosition } from "../table/port.ts";
import type { IndexDatabase } from "./index-database.ts";
import type { IndexContent, OpenIndex } from "./open-index.ts";
import { applyChange, openIndex } from "./open-index.ts";
import { UnreadableTenants } from "./unreadable-tenants.ts";

/** How long changes are applied at a time: a change of a large index may read from the disk. */
const maxSliceMs = 5;
/** How long after an error the table is followed again. */
const retryMs = 1_000;

/** Where a process has its indexes. */
export interface IndexHome {
  /** The folder of their files; see `IndexPlace`. */
  readonly folder: string | undefined;
  readonly log: Pick<Logger, "info" | "warn">;
}

/** What an index follows. */
export type FollowedTable<Record> = Pick<Table<Record>, "position" | "changesAfter">;

export interface FollowedIndexOptions<Schema extends DescMessage, Field extends string>
  extends IndexHome, IndexContent<Schema, Field> {}

/**
 * A local index that follows a table. It continues where the last process stopped, and is built again when its file is lost or damaged, or
 * when the table was replaced.
 */
export class FollowedIndex<
  Schema extends DescMessage,
  Field extends string,
> implements AsyncDisposable {
  readonly #table: FollowedTable<MessageShape<Schema>>;
  readonly #options: FollowedIndexOptions<Schema, Field>;
  readonly #signal: AbortSignal;
  readonly #end = new AbortController();
  /** Notifies of each step of the index. */
  readonly progress: Notifier = new Notifier();
  /** The tenants with a record that cannot be read. */
  readonly unreadable: UnreadableTenants = new UnreadableTenants();
  #following: Promise<void> | undefined;
  /** Since when the table is lost, in monotonic time. Undefined: it is followed. */
  #lostAtMs: number | undefined;
  #index: OpenIndex<MessageShape<Schema>, Field> | undefined;

  /** The index follows the table until `signal` aborts or it is disposed, once it was started. */
  constructor(
    table: FollowedTable<MessageShape<Schema>>,
    options: FollowedIndexOptions<Schema, Field>,
    signal: AbortSignal,
  ) {
    this.#table = table;
    this.#options = options;
    this.#signal = AbortSignal.any([signal, this.#end.signal]);
  }

  /** Begins to follow the table, the first time. */
  start(): void {
    this.#following ??= this.#keepFollowing(this.#signal);
  }

  /** The index, as far as it is built. Undefined: it is not open. */
  get current(): OpenIndex<MessageShape<Schema>, Field> | undefined {
    return this.#index;
  }

  /** For how long the table has been lost. */
  get lostMs(): number {
    return this.#lostAtMs === undefined ? 0 : performance.now() - this.#lostAtMs;
  }

  /** Drops an index that turned out to be damaged. It is built again. */
  async drop(error: unknown): Promise<void> {
    this.#warn(error);
    await this.#discard();
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
    const unreadable = this.unreadable.rows();
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
    this.progress.notify();
  }

  #applyChange(
    index: OpenIndex<MessageShape<Schema>, Field>,
    change: KeyedChange<MessageShape<Schema>>,
  ): void {
    // A file outlives the process, and would lack the row without saying so.
    if (change.kind === "unreadable" && this.#options.folder !== undefined) throw change.error;
    this.unreadable.note(change);
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
    this.unreadable.clear();
    await index?.database.discard();
  }
}

/** Returns whether an index of this position lacks nothing but changes after it. A store may have lost its last changes. */
function isBefore(position: TablePosition | undefined, table: TablePosition): boolean {
  if (position === undefined) return true;
  return position.instance === table.instance && position.revision <= table.revision;
}
