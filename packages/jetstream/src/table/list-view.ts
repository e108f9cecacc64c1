import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { storedReadOptions } from "@reeve/contracts/nesting";
import { Failure, isRetryable } from "@reeve/platform/failure";
import type { Page, PageRequest } from "./page.ts";
import { pageOf } from "./page.ts";
import type { Table } from "./port.ts";
import type { ListEntry } from "./prefix-view.ts";
import { PrefixView } from "./prefix-view.ts";

/** What a process may hold of the list of one tenant: rows of usual size are fewer by their number. */
const defaultBytes = 64 * 1024 * 1024;

/** How lists of a table's records are ordered and chosen. */
export interface ListOptions<Record, Facet> {
  /** What a list is chosen by: few and small values. */
  readonly facetOf: (record: Record) => Facet;
  /** What it is ordered by; no two records have the same, and that of a record never changes. */
  readonly orderOf: (record: Record) => string;
  readonly direction: "ascending" | "descending";
  /** How long a view is kept that nobody asks. */
  readonly idleMs?: number;
  /** How many rows a view may have; a list of more is read from the store each time. */
  readonly maxRows?: number;
  /** How many bytes its records may have together, as they are stored; a list of more is read from the store each time. */
  readonly maxBytes?: number;
}

/**
 * Lists the records of a table page by page, each page up to date with everything that was written before it was asked for.
 * A view of what lies below a prefix is opened by the first list, kept up to date while lists follow each other, and given
 * up when none does: where nobody lists, nothing is held.
 */
export class ListView<Schema extends DescMessage, Facet> {
  readonly #table: Table<MessageShape<Schema>>;
  readonly #schema: Schema;
  readonly #options: ListOptions<MessageShape<Schema>, Facet>;
  readonly #signal: AbortSignal;
  readonly #views = new Map<string, PrefixView<MessageShape<Schema>, Facet>>();

  /** Views live at most until `signal` aborts. */
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

  /** How many prefixes are looked at. */
  get views(): number {
    return this.#views.size;
  }

  /** One page of the records below `prefix` that are wanted. */
  async page(
    prefix: string,
    request: PageRequest,
    isWanted: (facet: Facet) => boolean,
    signal: AbortSignal,
  ): Promise<Page<MessageShape<Schema>>> {
    const isAfter = (order: string, previous: string) =>
      this.#options.direction === "ascending" ? order > previous : order < previous;
    const listed = await this.#listed(prefix, signal);
    const wanted = listed.filter(({ facet }) => isWanted(facet));
    const { items, nextPageToken } = pageOf(
      wanted,
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

  async #listed(prefix: string, signal: AbortSignal): Promise<readonly ListEntry<Facet>[]> {
    const reached = await this.#table.lastRevision(prefix, signal);
    if (reached === 0) return [];
    try {
      const listed = await this.#view(prefix).listed(reached, signal);
      if (listed !== undefined) return listed;
    } catch (error) {
      // A view that broke is opened again by whoever asks next; this one reads for itself, as patiently as every read.
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
      maxBytes = defaultBytes,
    } = this.#options;
    const view = new PrefixView({
      changes: (until: AbortSignal) => this.#table.watch(prefix, until),
      entryOf: (record: MessageShape<Schema>) => this.#entryOf(record),
      sorted: (entries: readonly ListEntry<Facet>[]) => sorted(entries, direction),
      idleMs,
      maxRows,
      maxBytes,
      ended: () => {
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
