import type { Row } from "@reeve/jetstream/table/port";

/**
 * The rows that were written last, at most `max`, so that the next write of a row needs no read. A row that another process
 * has written meanwhile is detected by its revision when it is written.
 */
export class RecentRows<Record> {
  readonly #max: number;
  /** In the order in which the rows were written. */
  readonly #rows = new Map<string, Row<Record>>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Number of rows. */
  get size(): number {
    return this.#rows.size;
  }

  get(key: string): Row<Record> | undefined {
    return this.#rows.get(key);
  }

  keep(row: Row<Record>): void {
    this.#rows.delete(row.key);
    this.#rows.set(row.key, row);
    if (this.#rows.size <= this.#max) return;
    const [oldest] = this.#rows.keys();
    if (oldest !== undefined) this.#rows.delete(oldest);
  }

  forget(key: string): void {
    this.#rows.delete(key);
  }
}
