import { abortable } from "@reeve/platform/async/abortable";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import type { Change } from "./port.ts";

/** A record of a list. */
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
  /** Called when the view must not be used any more. */
  readonly onEnd: () => void;
  readonly signal: AbortSignal;
}

/** A caller that waits until the view has reached a revision. */
interface Waiter {
  readonly revision: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** An ordered view of the records below a prefix of a table. It ends when it is not used for a while. */
export class PrefixView<Record, Facet> {
  readonly #options: ViewOptions<Record, Facet>;
  readonly #end = new AbortController();
  readonly #entries = new Map<string, ListEntry<Facet>>();
  readonly #waiters = new Set<Waiter>();
  readonly #idle: NodeJS.Timeout;
  #ordered: readonly ListEntry<Facet>[] | undefined;
  #bytes = 0;
  #isTooLarge = false;
  #isCurrent = false;
  #revision = 0;

  constructor(options: ViewOptions<Record, Facet>) {
    this.#options = options;
    this.#idle = setTimeout(() => this.#onIdle(), options.idleMs).unref();
    void this.#watch();
  }

  /** Returns all entries in order, as of `revision` or later, or undefined when they exceed the limits of a view. */
  async entriesAt(
    revision: number,
    signal: AbortSignal,
  ): Promise<readonly ListEntry<Facet>[] | undefined> {
    this.#idle.refresh();
    await this.#waitFor(revision, signal);
    if (this.#isTooLarge) return undefined;
    this.#ordered ??= this.#options.sorted([...this.#entries.values()]);
    return this.#ordered;
  }

  async #waitFor(revision: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#hasReached(revision)) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter = { revision, resolve, reject };
    this.#waiters.add(waiter);
    try {
      await abortable(promise, signal);
    } finally {
      this.#waiters.delete(waiter);
    }
  }

  #hasReached(revision: number): boolean {
    return this.#isTooLarge || (this.#isCurrent && this.#revision >= revision);
  }

  async #watch(): Promise<void> {
    const signal = AbortSignal.any([this.#options.signal, this.#end.signal]);
    try {
      for await (const change of this.#options.changes(signal)) {
        this.#apply(change);
        this.#wakeWaiters();
        if (this.#isTooLarge) return;
      }
    } catch (error) {
      this.#fail(storeUnavailable(error));
    }
  }

  #apply(change: Change<Record>): void {
    switch (change.kind) {
      case "current":
        this.#isCurrent = true;
        this.#revision = Math.max(this.#revision, change.revision);
        return;
      case "deleted":
        this.#revision = Math.max(this.#revision, change.revision);
        this.#delete(change.key);
        return;
      case "written":
        this.#revision = Math.max(this.#revision, change.row.revision);
        this.#put(change.row.key, this.#options.entryOf(change.row.record));
    }
  }

  #put(key: string, entry: ListEntry<Facet>): void {
    const known = this.#entries.get(key);
    this.#bytes += entry.bytes.length - (known?.bytes.length ?? 0);
    if (known !== undefined) {
      // Its order key never changes, so the ordered list stays valid.
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

  /** Drops all entries. The view reports that it is too large until it ends. */
  #overflow(): void {
    this.#isTooLarge = true;
    this.#entries.clear();
    this.#ordered = undefined;
  }

  #wakeWaiters(): void {
    for (const { revision, resolve } of this.#waiters) {
      if (this.#hasReached(revision)) resolve();
    }
  }

  #onIdle(): void {
    if (this.#waiters.size > 0) {
      this.#idle.refresh();
      return;
    }
    this.#options.onEnd();
    this.#end.abort(new DOMException("the view was not used", "AbortError"));
  }

  #fail(error: unknown): void {
    clearTimeout(this.#idle);
    this.#options.onEnd();
    for (const { reject } of this.#waiters) reject(error);
  }
}
