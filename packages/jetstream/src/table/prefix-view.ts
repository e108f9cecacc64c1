import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import type { Change } from "./port.ts";

/** A record as a list holds it. */
export interface ListEntry<Facet> {
  readonly order: string;
  facet: Facet;
  bytes: Uint8Array;
}

interface ViewOptions<Record, Facet> {
  readonly changes: (signal: AbortSignal) => AsyncIterable<Change<Record>>;
  readonly entryOf: (record: Record) => ListEntry<Facet>;
  readonly sorted: (entries: readonly ListEntry<Facet>[]) => readonly ListEntry<Facet>[];
  readonly idleMs: number;
  readonly maxRows: number;
  readonly maxBytes: number;
  /** Hears that the view is not to be asked any more. */
  readonly ended: () => void;
  readonly signal: AbortSignal;
}

interface Asker {
  readonly reached: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** What lies below a prefix of a table, in order, for as long as it is asked for. */
export class PrefixView<Record, Facet> {
  readonly #options: ViewOptions<Record, Facet>;
  readonly #end = new AbortController();
  readonly #entries = new Map<string, ListEntry<Facet>>();
  readonly #askers = new Set<Asker>();
  readonly #idle: NodeJS.Timeout;
  #ordered: readonly ListEntry<Facet>[] | undefined;
  #bytes = 0;
  #isTooLarge = false;
  #isCurrent = false;
  #seen = 0;

  constructor(options: ViewOptions<Record, Facet>) {
    this.#options = options;
    this.#idle = setTimeout(() => this.#giveUp(), options.idleMs).unref();
    void this.#watch();
  }

  /** Everything, in order, as it was at revision `reached` or later. Undefined: it is too much to be held. */
  async listed(
    reached: number,
    signal: AbortSignal,
  ): Promise<readonly ListEntry<Facet>[] | undefined> {
    this.#idle.refresh();
    await this.#upTo(reached, signal);
    if (this.#isTooLarge) return undefined;
    this.#ordered ??= this.#options.sorted([...this.#entries.values()]);
    return this.#ordered;
  }

  async #upTo(reached: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#isTooLarge || (this.#isCurrent && this.#seen >= reached)) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const asker = { reached, resolve, reject };
    const abort = () => reject(signal.reason as Error);
    this.#askers.add(asker);
    signal.addEventListener("abort", abort, { once: true });
    try {
      await promise;
    } finally {
      this.#askers.delete(asker);
      signal.removeEventListener("abort", abort);
    }
  }

  async #watch(): Promise<void> {
    const signal = AbortSignal.any([this.#options.signal, this.#end.signal]);
    try {
      for await (const change of this.#options.changes(signal)) {
        this.#take(change);
        this.#answer();
        if (this.#isTooLarge) return;
      }
    } catch (error) {
      this.#leave(storeUnavailable(error));
    }
  }

  #take(change: Change<Record>): void {
    switch (change.kind) {
      case "current":
        this.#isCurrent = true;
        this.#seen = Math.max(this.#seen, change.revision);
        return;
      case "deleted":
        this.#seen = Math.max(this.#seen, change.revision);
        this.#delete(change.key);
        return;
      case "written":
        this.#seen = Math.max(this.#seen, change.row.revision);
        this.#put(change.row.key, this.#options.entryOf(change.row.record));
    }
  }

  #put(key: string, entry: ListEntry<Facet>): void {
    const known = this.#entries.get(key);
    this.#bytes += entry.bytes.length - (known?.bytes.length ?? 0);
    if (known !== undefined) {
      // Its place stays: what is in order stays so.
      known.facet = entry.facet;
      known.bytes = entry.bytes;
    } else {
      this.#entries.set(key, entry);
      this.#ordered = undefined;
    }
    const { maxRows, maxBytes } = this.#options;
    if (this.#entries.size > maxRows || this.#bytes > maxBytes) this.#overflow();
  }

  #delete(key: string): void {
    const known = this.#entries.get(key);
    if (known === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= known.bytes.length;
    this.#ordered = undefined;
  }

  /** Holds nothing any more, and says so until it is given up. */
  #overflow(): void {
    this.#isTooLarge = true;
    this.#entries.clear();
    this.#ordered = undefined;
  }

  #answer(): void {
    for (const { reached, resolve } of this.#askers) {
      if (this.#isTooLarge || (this.#isCurrent && this.#seen >= reached)) resolve();
    }
  }

  #giveUp(): void {
    if (this.#askers.size > 0) {
      this.#idle.refresh();
      return;
    }
    this.#options.ended();
    this.#end.abort(new DOMException("nobody lists", "AbortError"));
  }

  #leave(error: unknown): void {
    clearTimeout(this.#idle);
    this.#options.ended();
    for (const { reject } of this.#askers) reject(error);
  }
}
