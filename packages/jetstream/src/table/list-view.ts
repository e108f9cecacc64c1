import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { storedReadOptions } from "@reeve/contracts/nesting";
import { Failure, isRetryable } from "@reeve/platform/failure";
import type { Page, PageRequest } from "./page.ts";
import { pageOf } from "./page.ts";
import type { Table } from "./port.ts";
import type { ListEntry } from "./prefix-view.ts";
import { PrefixView } from "./prefix-view.ts";

/** How much a process may hold of the list of one tenant. Rows of typical size reach the limit of rows first. */
const defaultMaxBytes = 64 * 1024 * 1024;

/** How the lists of a table are filtered and ordered. */
export interface ListOptions<Record, Facet> {
  /** Returns what lists are filtered by: a few small values. */
  readonly facetOf: (record: Record) => Facet;
  /** Returns what lists are ordered by: unique for each record, and never changed. */
  readonly orderOf: (record: Record) => string;
  readonly direction: "ascending" | "descending";
  /** How long an unused view is kept. Default: one minute. */
  readonly idleMs?: number;
  /** How many rows a view may have. A longer list is read from the store each time. Default: 100,000. */
  readonly maxRows?: number;
  /** How many bytes the records of a view may have, as stored. A larger list is read from the store each time. Default: 64 MiB. */
  readonly maxBytes?: number;
}

/**
 * Lists the records of a table page by page. Each page includes everything that was written before its request. The first list
 * of a prefix opens a view of it, which is kept up to date while further lists follow and closed when none do. So a process holds
 * records only of prefixes that are listed.
 */
export class ListView<Schema extends DescMessage, Facet> {
  readonly #table: Table<MessageShape<Schema>>;
  readonly #schema: Schema;
  readonly #options: ListOptions<MessageShape<Schema>, Facet>;
  readonly #signal: AbortSignal;
  readonly #views = new Map<string, PrefixView<MessageShape<Schema>, Facet>>();

  /** Views end when `signal` aborts. */
  constructor(
    table: Table<MessageShape<Schema>>,
    schema: Schema,
    options: ListOptions<MessageShape<Schema>, Facet>,
    signal: AbortSignal,
  ) {
    this.#table = table;
    this.#schema = schema;
    this.#options = options;
    this.#signal = signal;
  }

  /** How many views are open. */
  get views(): number {
    return this.#views.size;
  }

  /** Returns one page of the records below `prefix` whose facet passes `filter`. */
  async page(
    prefix: string,
    request: PageRequest,
    filter: (facet: Facet) => boolean,
    signal: AbortSignal,
  ): Promise<Page<MessageShape<Schema>>> {
    const isAfter = (order: string, previous: string) =>
      this.#options.direction === "ascending" ? order > previous : order < previous;
    const entries = await this.#entries(prefix, signal);
    const { items, nextPageToken } = pageOf(
      entries.filter(({ facet }) => filter(facet)),
      request,
      ({ order }) => order,
      isAfter,
      ({ bytes }) => bytes.length,
    );
    return {
      items: items.map(({ bytes }) => fromBinary(this.#schema, bytes, storedReadOptions)),
      nextPageToken,
    };
  }

  async #entries(prefix: string, signal: AbortSignal): Promise<readonly ListEntry<Facet>[]> {
    const revision = await this.#table.lastRevision(prefix, signal);
    if (revision === 0) return [];
    try {
      const entries = await this.#view(prefix).entriesAt(revision, signal);
      if (entries !== undefined) return entries;
    } catch (error) {
      // The next list opens a broken view again. This one reads from the store, with retries as every read.
      if (!(error instanceof Failure) || !isRetryable(error)) throw error;
    }
    const rows = await this.#table.list(prefix, signal);
    return sorted(
      rows.map(({ record }) => this.#entryOf(record)),
      this.#options.direction,
    );
  }

  #view(prefix: string): PrefixView<MessageShape<Schema>, Facet> {
    const known = this.#views.get(prefix);
    if (known !== undefined) return known;
    const {
      direction,
      idleMs = 60_000,
      maxRows = 100_000,
      maxBytes = defaultMaxBytes,
    } = this.#options;
    const view = new PrefixView({
      changes: (until: AbortSignal) => this.#table.watch(prefix, until),
      entryOf: (record: MessageShape<Schema>) => this.#entryOf(record),
      sorted: (entries: readonly ListEntry<Facet>[]) => sorted(entries, direction),
      idleMs,
      maxRows,
      maxBytes,
      onEnd: () => {
        if (this.#views.get(prefix) === view) this.#views.delete(prefix);
      },
      signal: this.#signal,
    });
    this.#views.set(prefix, view);
    return view;
  }

  #entryOf(record: MessageShape<Schema>): ListEntry<Facet> {
    const { facetOf, orderOf } = this.#options;
    const bytes = toBinary(this.#schema, record);
    return { order: orderOf(record), facet: facetOf(record), bytes };
  }
}

function sorted<Facet>(
  entries: readonly ListEntry<Facet>[],
  direction: "ascending" | "descending",
): readonly ListEntry<Facet>[] {
  const sign = direction === "ascending" ? 1 : -1;
  return entries.toSorted((a, b) => (a.order < b.order ? -sign : sign));
}
