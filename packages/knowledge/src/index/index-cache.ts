import type { CollectionRecord, DocumentText } from "@reeve/contracts/extensions/knowledge";
import type { Row } from "@reeve/jetstream/table/port";
import type { Match } from "./passage-index.ts";
import { PassageIndex } from "./passage-index.ts";

/** Reads the text of a document. Undefined: it was removed. */
export type ReadText = (object: string, signal: AbortSignal) => Promise<DocumentText | undefined>;

interface Entry {
  readonly index: PassageIndex;
  /** The size of the text of each object that the index has. */
  readonly sizes: Map<string, number>;
  revision: number;
  /** The searches that use it now. */
  users: number;
  /** The last update, after which the next one may begin. */
  updated: Promise<unknown>;
}

/** The indexes of the collections that were searched last, in the memory of this process. */
export class IndexCache {
  readonly #read: ReadText;
  readonly #maxTextBytes: number;
  /** In the order of their last use. */
  readonly #entries = new Map<string, Entry>();

  /** Keeps indexes of at most `maxTextBytes` of text together, beside those in use. */
  constructor(read: ReadText, maxTextBytes: number) {
    this.#read = read;
    this.#maxTextBytes = maxTextBytes;
  }

  /**
   * Searches a collection as its row says, or as a later one does. Returns undefined when a document of the row was removed since: the
   * caller reads the row again.
   */
  async search(
    row: Row<CollectionRecord>,
    query: string,
    limit: number,
    signal: AbortSignal,
  ): Promise<readonly Match[] | undefined> {
    const entry = this.#use(row.key);
    try {
      const update = entry.updated.then(() => this.#update(entry, row, signal));
      entry.updated = update.catch(() => undefined);
      return (await update) ? entry.index.search(query, limit) : undefined;
    } finally {
      entry.users -= 1;
      this.#evict();
    }
  }

  #use(key: string): Entry {
    const entry = this.#entries.get(key) ?? {
      index: new PassageIndex(),
      sizes: new Map<string, number>(),
      revision: 0,
      users: 0,
      updated: Promise.resolve(),
    };
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    entry.users += 1;
    return entry;
  }

  async #update(
    entry: Entry,
    { record, revision }: Row<CollectionRecord>,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (entry.revision >= revision) return true;
    const objects = new Set(record.documents.map(({ object }) => object));
    for (const known of [...entry.sizes.keys()].filter((object) => !objects.has(object))) {
      entry.index.remove(known);
      entry.sizes.delete(known);
    }
    for (const { document, object } of record.documents) {
      if (document === undefined || entry.sizes.has(object)) continue;
      signal.throwIfAborted();
      const text = await this.#read(object, signal);
      if (text === undefined) return false;
      await entry.index.add(object, document, text.passages);
      entry.sizes.set(object, Number(document.textBytes));
    }
    entry.revision = revision;
    return true;
  }

  #evict(): void {
    let total = 0;
    for (const [key, { users, sizes, index }] of [...this.#entries].toReversed()) {
      total += [...sizes.values()].reduce((sum, size) => sum + size, 0);
      if (users > 0 || total <= this.#maxTextBytes) continue;
      this.#entries.delete(key);
      index[Symbol.dispose]();
    }
  }
}
