import { randomUUID } from "node:crypto";
import { Wakeup } from "@reeve/platform/async/coordination/wakeup";
import type { Failure } from "@reeve/platform/failure";
import type {
  Change,
  ChangeBatch,
  KeyedChange,
  ReadPosition,
  Row,
  Table,
  TableHistory,
  TablePosition,
  Version,
} from "./port.ts";
import { maxBatchedChanges } from "./port.ts";
import type { TableSource } from "./retry-unreadable.ts";
import { retryUnreadable, sourceOfBatches, sourceOfChanges } from "./retry-unreadable.ts";
import type { RetryDelays, WaitingRow } from "./unreadable-rows.ts";
import { defaultRetryDelays } from "./unreadable-rows.ts";

export interface MemoryTableOptions {
  /** Returns why the row of a key cannot be read now. Default: all rows can be read. */
  readonly failureOf?: (key: string) => Failure | undefined;
  /** Returns why an earlier version of a key cannot be read. Default: all can be read. */
  readonly versionFailureOf?: (row: { readonly revision: number }) => Failure | undefined;
  readonly delays?: RetryDelays;
}

/** Records in memory, which end with the process. As in any store, records are copied in and out. */
export class MemoryTable<Record> implements Table<Record>, TableHistory<Record> {
  readonly #failureOf: (key: string) => Failure | undefined;
  readonly #versionFailureOf: NonNullable<MemoryTableOptions["versionFailureOf"]>;
  readonly #delays: RetryDelays;
  readonly #instance = randomUUID();
  readonly #rows = new Map<string, Row<Record>>();
  /** The last versions of each key, oldest first. */
  readonly #versions = new Map<string, readonly Row<Record>[]>();
  readonly #watchers = new Set<(change: KeyedChange<Record>) => void>();
  /** The revision of the last change of each key, including deleted keys. */
  readonly #revisions = new Map<string, number>();
  #revision = 0;

  constructor({
    failureOf,
    versionFailureOf,
    delays = defaultRetryDelays,
  }: MemoryTableOptions = {}) {
    this.#failureOf = failureOf ?? (() => undefined);
    this.#versionFailureOf = versionFailureOf ?? (() => undefined);
    this.#delays = delays;
  }

  async get(key: string, signal: AbortSignal): Promise<Row<Record> | undefined> {
    await yieldTurn(signal);
    const row = this.#rows.get(key);
    return row && structuredClone(this.#readable(row));
  }

  async create(key: string, record: Record, signal: AbortSignal): Promise<Row<Record> | undefined> {
    await yieldTurn(signal);
    return this.#rows.has(key) ? undefined : this.#write(key, record);
  }

  async createFirst(
    key: string,
    record: Record,
    signal: AbortSignal,
  ): Promise<Row<Record> | undefined> {
    await yieldTurn(signal);
    return this.#revisions.has(key) ? undefined : this.#write(key, record);
  }

  async update(
    key: string,
    record: Record,
    revision: number,
    signal: AbortSignal,
  ): Promise<Row<Record> | undefined> {
    await yieldTurn(signal);
    return this.#rows.get(key)?.revision === revision ? this.#write(key, record) : undefined;
  }

  async put(key: string, record: Record, signal: AbortSignal): Promise<Row<Record>> {
    await yieldTurn(signal);
    return this.#write(key, record);
  }

  async delete(key: string, signal: AbortSignal): Promise<void> {
    await yieldTurn(signal);
    if (this.#rows.has(key)) this.#delete(key);
  }

  async deleteVersion(key: string, revision: number, signal: AbortSignal): Promise<boolean> {
    await yieldTurn(signal);
    if (this.#rows.get(key)?.revision !== revision) return false;
    this.#delete(key);
    return true;
  }

  async *versions(
    key: string,
    { before = Infinity }: { readonly before?: number | undefined },
    signal: AbortSignal,
  ): AsyncIterable<Version<Record>> {
    await yieldTurn(signal);
    const rows = this.#versions.get(key) ?? [];
    for (const [age, row] of rows.toReversed().entries()) {
      signal.throwIfAborted();
      if (row.revision >= before) continue;
      const error = this.#versionFailureOf(row) ?? this.#failureOf(key);
      if (error !== undefined && age === 0) throw error;
      const { revision } = row;
      yield error === undefined
        ? structuredClone({ kind: "written", row })
        : { kind: "unreadable", key, revision, error };
    }
  }

  async list(prefix: string, signal: AbortSignal): Promise<readonly Row<Record>[]> {
    await yieldTurn(signal);
    const rows = this.#below(prefix);
    if (prefix !== "") return structuredClone(rows.map((row) => this.#readable(row)));
    return structuredClone(rows.filter(({ key }) => this.#failureOf(key) === undefined));
  }

  watch(prefix: string, signal: AbortSignal): AsyncIterable<Change<Record>> {
    if (prefix !== "") return this.#changes(prefix, signal);
    const source = sourceOfChanges((until) => this.#changes(prefix, until));
    return this.#retrying(source, signal);
  }

  async *#changes(prefix: string, signal: AbortSignal): AsyncIterable<Change<Record>> {
    signal.throwIfAborted();
    // One change per key: a watcher that lags gets the latest one, and the queue stays bounded.
    const changes = new Map<string, KeyedChange<Record>>();
    const changed = new Wakeup();
    const watcher = (change: KeyedChange<Record>) => {
      const key = change.kind === "written" ? change.row.key : change.key;
      if (!isBelow(key, prefix)) return;
      changes.delete(key);
      changes.set(key, change);
      changed.notify();
    };
    const rows = this.#below(prefix);
    const revision = this.#revision;
    this.#watchers.add(watcher);
    try {
      for (const row of rows) yield this.#changeOf({ kind: "written", row }, prefix);
      yield { kind: "current", revision };
      for (;;) {
        signal.throwIfAborted();
        const [next] = changes;
        if (next === undefined) await changed.wait(signal);
        else {
          changes.delete(next[0]);
          yield this.#changeOf(next[1], prefix);
        }
      }
    } finally {
      this.#watchers.delete(watcher);
    }
  }

  async position(signal: AbortSignal): Promise<TablePosition> {
    await yieldTurn(signal);
    return { instance: this.#instance, revision: this.#revision };
  }

  changesAfter(position: ReadPosition, signal: AbortSignal): AsyncIterable<ChangeBatch<Record>> {
    const source = sourceOfBatches(position, (until) => this.#batchesAfter(position, until));
    return this.#retrying(source, signal);
  }

  async *#batchesAfter(
    { revision: start }: TablePosition,
    signal: AbortSignal,
  ): AsyncIterable<ChangeBatch<Record>> {
    const changed = new Wakeup();
    const watcher = () => changed.notify();
    this.#watchers.add(watcher);
    try {
      for (let revision = start; ;) {
        signal.throwIfAborted();
        const found = this.#changesAfter(revision);
        if (found.length === 0) await changed.wait(signal);
        for (let at = 0; at < found.length; at += maxBatchedChanges) {
          const part = found.slice(at, at + maxBatchedChanges);
          revision = part.reduce((_, change) => revisionOf(change), revision);
          yield { changes: part.map((change) => this.#changeOf(change, "")), revision };
        }
      }
    } finally {
      this.#watchers.delete(watcher);
    }
  }

  #retrying<Item>(source: TableSource<Item, Record>, signal: AbortSignal): AsyncIterable<Item> {
    const read = ({ key, revision }: WaitingRow) => {
      const row = this.#rows.get(key);
      if (row !== undefined && row.revision !== revision) return undefined;
      if (row !== undefined) return this.#changeOf({ kind: "written", row }, "");
      return { kind: "deleted" as const, key, revision };
    };
    const delays = this.#delays;
    return retryUnreadable(
      { ...source, delays, read: (row) => Promise.resolve(read(row)) },
      signal,
    );
  }

  /** Returns a copy of a change as a reader of `prefix` gets it. */
  #changeOf(change: KeyedChange<Record>, prefix: string): KeyedChange<Record> {
    if (change.kind !== "written") return change;
    const { key, revision } = change.row;
    const error = this.#failureOf(key);
    if (error === undefined) return structuredClone(change);
    if (prefix !== "") throw error;
    return { kind: "unreadable", key, revision, error };
  }

  #readable(row: Row<Record>): Row<Record> {
    const failure = this.#failureOf(row.key);
    if (failure !== undefined) throw failure;
    return row;
  }

  #changesAfter(revision: number): readonly KeyedChange<Record>[] {
    return [...this.#revisions]
      .filter(([, last]) => last > revision)
      .toSorted(([, a], [, b]) => a - b)
      .map(([key, last]) => {
        const row = this.#rows.get(key);
        return row === undefined
          ? { kind: "deleted", key, revision: last }
          : { kind: "written", row };
      });
  }

  #below(prefix: string): readonly Row<Record>[] {
    return [...this.#rows.values()].filter(({ key }) => isBelow(key, prefix)).toSorted(byKey);
  }

  #write(key: string, record: Record): Row<Record> {
    const row = structuredClone({ key, record, revision: ++this.#revision });
    this.#rows.set(key, row);
    this.#versions.set(key, [...(this.#versions.get(key) ?? []), row].slice(-maxVersions));
    this.#revisions.set(key, row.revision);
    this.#notify({ kind: "written", row });
    return structuredClone(row);
  }

  #delete(key: string): void {
    this.#rows.delete(key);
    this.#versions.delete(key);
    this.#revisions.set(key, ++this.#revision);
    this.#notify({ kind: "deleted", key, revision: this.#revision });
  }

  #notify(change: KeyedChange<Record>): void {
    for (const watcher of this.#watchers) watcher(change);
  }
}

/** As many as the most that a store keeps. */
const maxVersions = 64;

/** Returns whether `key` starts with the tokens of `prefix` and has more. */
function isBelow(key: string, prefix: string): boolean {
  return prefix === "" || key.startsWith(`${prefix}.`);
}

function byKey(a: { readonly key: string }, b: { readonly key: string }): number {
  return a.key < b.key ? -1 : 1;
}

function revisionOf<Record>(change: KeyedChange<Record>): number {
  return change.kind === "written" ? change.row.revision : change.revision;
}

async function yieldTurn(signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await Promise.resolve();
}
