import type { Change, Row, Table } from "./port.ts";

/** Records in memory, gone with the process. As with any store, nobody shares an object with it. */
export class MemoryTable<Record> implements Table<Record> {
  readonly #rows = new Map<string, Row<Record>>();
  readonly #watchers = new Set<(change: KeyedChange<Record>) => void>();
  /** By key, also those that are gone. */
  readonly #touched = new Map<string, number>();
  #revision = 0;

  async get(key: string, signal: AbortSignal): Promise<Row<Record> | undefined> {
    await turn(signal);
    const row = this.#rows.get(key);
    return row && structuredClone(row);
  }

  async create(key: string, record: Record, signal: AbortSignal): Promise<Row<Record> | undefined> {
    await turn(signal);
    return this.#rows.has(key) ? undefined : this.#write(key, record);
  }

  async update(
    key: string,
    record: Record,
    revision: number,
    signal: AbortSignal,
  ): Promise<Row<Record> | undefined> {
    await turn(signal);
    return this.#rows.get(key)?.revision === revision ? this.#write(key, record) : undefined;
  }

  async put(key: string, record: Record, signal: AbortSignal): Promise<Row<Record>> {
    await turn(signal);
    return this.#write(key, record);
  }

  async delete(key: string, signal: AbortSignal): Promise<void> {
    await turn(signal);
    if (this.#rows.has(key)) this.#delete(key);
  }

  async deleteVersion(key: string, revision: number, signal: AbortSignal): Promise<boolean> {
    await turn(signal);
    if (this.#rows.get(key)?.revision !== revision) return false;
    this.#delete(key);
    return true;
  }

  async list(prefix: string, signal: AbortSignal): Promise<readonly Row<Record>[]> {
    await turn(signal);
    return structuredClone(this.#below(prefix));
  }

  async lastRevision(prefix: string, signal: AbortSignal): Promise<number> {
    await turn(signal);
    let reached = 0;
    for (const [key, revision] of this.#touched)
      if (isBelow(key, prefix)) reached = Math.max(reached, revision);
    return reached;
  }

  async *watch(prefix: string, signal: AbortSignal): AsyncIterable<Change<Record>> {
    signal.throwIfAborted();
    // One change a key: a watcher that lags is given the latest, and cannot make the queue grow.
    const changes = new Map<string, KeyedChange<Record>>();
    let wake: (() => void) | undefined;
    const watcher = (change: KeyedChange<Record>) => {
      const key = change.kind === "written" ? change.row.key : change.key;
      if (!isBelow(key, prefix)) return;
      changes.delete(key);
      changes.set(key, change);
      wake?.();
    };
    const stop = () => wake?.();
    signal.addEventListener("abort", stop, { once: true });
    const rows = this.#below(prefix);
    const revision = this.#revision;
    this.#watchers.add(watcher);
    try {
      for (const row of rows) yield { kind: "written", row: structuredClone(row) };
      yield { kind: "current", revision };
      for (;;) {
        signal.throwIfAborted();
        const [next] = changes;
        if (next === undefined) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        } else {
          changes.delete(next[0]);
          yield structuredClone(next[1]);
        }
      }
    } finally {
      this.#watchers.delete(watcher);
      signal.removeEventListener("abort", stop);
    }
  }

  #below(prefix: string): readonly Row<Record>[] {
    return [...this.#rows.values()].filter(({ key }) => isBelow(key, prefix)).toSorted(byKey);
  }

  #write(key: string, record: Record): Row<Record> {
    const row = structuredClone({ key, record, revision: ++this.#revision });
    this.#rows.set(key, row);
    this.#touched.set(key, row.revision);
    this.#tell({ kind: "written", row });
    return structuredClone(row);
  }

  #delete(key: string): void {
    this.#rows.delete(key);
    this.#touched.set(key, ++this.#revision);
    this.#tell({ kind: "deleted", key, revision: this.#revision });
  }

  #tell(change: KeyedChange<Record>): void {
    for (const watcher of this.#watchers) watcher(change);
  }
}

type KeyedChange<Record> = Exclude<Change<Record>, { readonly kind: "current" }>;

/** Whether `key` begins with the whole tokens of `prefix` and goes on. */
function isBelow(key: string, prefix: string): boolean {
  return prefix === "" || key.startsWith(`${prefix}.`);
}

function byKey(a: { readonly key: string }, b: { readonly key: string }): number {
  return a.key < b.key ? -1 : 1;
}

async function turn(signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await Promise.resolve();
}
