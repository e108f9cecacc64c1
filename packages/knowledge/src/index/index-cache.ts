import { ErrorReason } from "@reeve/contracts/error";
import type { CollectionRecord } from "@reeve/contracts/extensions/knowledge";
import type { Row } from "@reeve/jetstream/table/port";
import { abortable } from "@reeve/platform/async/abortable";
import { KeyedSemaphore } from "@reeve/platform/async/coordination/keyed-semaphore";
import { Failure } from "@reeve/platform/failure";
import type { IndexMatches, IndexQuery } from "./collection-index.ts";
import { CollectionIndex } from "./collection-index.ts";
import { bytesOf } from "./index-size.ts";
import type { ReadObjects } from "./read-objects.ts";

interface Entry {
  readonly index: CollectionIndex;
  /** The revision of the row that the index has. 0: of none. */
  revision: number;
  /** The searches that use it now. */
  users: number;
  /** The last search, after which the next one may begin. */
  turn: Promise<unknown>;
}

interface IndexCacheOptions {
  /** The model of the vectors that indexes have. Undefined: they have none. */
  readonly model: string | undefined;
  /** Indexes that take about this much memory together are kept, and at least the one that was used last. */
  readonly maxBytes: number;
}

/** A row of a collection, as a search read it. */
interface ReadRow {
  readonly row: Row<CollectionRecord>;
  /** Whether the row was read after the index was seen to be newer: then the store was restored, and the row counts. */
  readonly isConfirmed: boolean;
}

/** An index of few documents is cheap to build again. */
const maxEntries = 64;

/** The indexes of the collections that were searched last, in the memory of this process. */
export class IndexCache {
  readonly #read: ReadObjects;
  readonly #options: IndexCacheOptions;
  /** In the order of their last use. */
  readonly #entries = new Map<string, Entry>();
  /** An index in progress is beyond the memory of those that are kept. */
  readonly #builders = new KeyedSemaphore({
    permits: 1,
    permitsPerKey: 1,
    maxWaitingPerKey: 10,
  });

  constructor(read: ReadObjects, options: IndexCacheOptions) {
    this.#read = read;
    this.#options = options;
  }

  /**
   * Searches a collection as its row says. Returns undefined when the index is newer than the row, or a document of the row was removed
   * since: the caller reads the row again.
   */
  async search(
    { row, isConfirmed }: ReadRow,
    query: IndexQuery,
    signal: AbortSignal,
  ): Promise<IndexMatches | undefined> {
    const entry = this.#use(row.key);
    try {
      // Within its turn: a later update would show the search a part of another row.
      const found = entry.turn.then(async () => {
        entry.users += 1;
        try {
          const isCurrent = await this.#update(entry, { row, isConfirmed }, signal);
          return isCurrent ? await entry.index.search(query) : undefined;
        } finally {
          entry.users -= 1;
        }
      });
      entry.turn = found.catch(() => undefined);
      return await abortable(found, signal);
    } finally {
      entry.users -= 1;
      this.#evict();
    }
  }

  /** Forgets a collection that was deleted. */
  forget(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined || entry.users > 0) return;
    this.#entries.delete(key);
    entry.index[Symbol.dispose]();
  }

  #use(key: string): Entry {
    const entry = this.#entries.get(key) ?? {
      index: new CollectionIndex(),
      revision: 0,
      users: 0,
      turn: Promise.resolve(),
    };
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    entry.users += 1;
    return entry;
  }

  async #update(
    entry: Entry,
    { row, isConfirmed }: ReadRow,
    signal: AbortSignal,
  ): Promise<boolean> {
    signal.throwIfAborted();
    const { key, record, revision } = row;
    if (entry.revision === revision) return true;
    if (entry.revision > revision && !isConfirmed) return false;
    const [tenant = ""] = key.split(".");
    using permit = await this.#builders.acquire(tenant, signal);
    if (permit === undefined) throw tooManySearches();
    this.#evict(Math.max(0, bytesOf(record) - entry.index.bytes));
    const onChange = () => (entry.revision = 0);
    const options = { read: this.#read, onChange };
    const isComplete = await entry.index.update(record, this.#options.model, options, signal);
    if (isComplete) entry.revision = revision;
    return isComplete;
  }

  /** Drops what was used least recently, until `expected` more bytes fit. The index that was used last stays: it would be built for each search. */
  #evict(expected = 0): void {
    let total = expected;
    let count = 0;
    for (const [key, { users, index }] of [...this.#entries].toReversed()) {
      total += index.bytes;
      count += 1;
      const fits = total <= this.#options.maxBytes && count <= maxEntries;
      if (users > 0 || fits || count === 1) continue;
      this.#entries.delete(key);
      index[Symbol.dispose]();
      // Its memory is free for older ones.
      total -= index.bytes;
      count -= 1;
    }
  }
}

function tooManySearches(): Failure {
  const message = "too many searches of the tenant wait for their collections; try again later";
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, message);
}
