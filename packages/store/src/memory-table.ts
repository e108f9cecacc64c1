import type { Change, Row, Table } from "./table.ts";

/** Records in memory. Gone with the process. */
export class MemoryTable<Record> implements Table<Record> {
  readonly #rows = new Map<string, Row<Record>>();
  readonly #watchers = new Set<(change: Change<Record>) => void>();
  #revision = 0;

  async get(key: string, signal: AbortSignal): Promise<Row<Record> | undefined> {
    await turn(signal);
    return this.#rows.get(key);
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
    if (this.#rows.delete(key)) this.#tell({ kind: "deleted", key });
  }

  async list(prefix: string, signal: AbortSignal): Promise<readonly Row<Record>[]> {
    await turn(signal);
    return [...this.#rows.values()].filter(({ key }) => hasPrefix(key, prefix)).toSorted(byKey);
  }

  async *watch(prefix: string, signal: AbortSignal): AsyncIterable<Change<Record>> {
    const changes: Change<Record>[] = [];
    let wake = Promise.withResolvers<void>();
    const watcher = (change: Change<Record>) => {
      const key =
        change.kind === "written" ? change.row.key : change.kind === "deleted" ? change.key : "";
      if (hasPrefix(key, prefix)) changes.push(change);
      wake.resolve();
    };
    const stop = () => wake.reject(signal.reason as Error);
    signal.addEventListener("abort", stop, { once: true });
    this.#watchers.add(watcher);
    try {
      const rows = await this.list(prefix, signal);
      for (const row of rows) yield { kind: "written", row };
      yield { kind: "current" };
      for (;;) {
        const change = changes.shift();
        if (change !== undefined) yield change;
        else {
          await wake.promise;
          wake = Promise.withResolvers();
          if (signal.aborted) stop();
        }
      }
    } finally {
      this.#watchers.delete(watcher);
      signal.removeEventListener("abort", stop);
      // Nobody waits any more; a promise that is rejected later must not end the process.
      wake.promise.catch(() => undefined);
    }
  }

  #write(key: string, record: Record): Row<Record> {
    const row = { key, record, revision: ++this.#revision };
    this.#rows.set(key, row);
    this.#tell({ kind: "written", row });
    return row;
  }

  #tell(change: Change<Record>): void {
    for (const watcher of this.#watchers) watcher(change);
  }
}

/** Whether `key` begins with the whole tokens of `prefix`. */
function hasPrefix(key: string, prefix: string): boolean {
  return prefix === "" || key === prefix || key.startsWith(`${prefix}.`);
}

function byKey(a: { readonly key: string }, b: { readonly key: string }): number {
  return a.key < b.key ? -1 : 1;
}

async function turn(signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await Promise.resolve();
}
