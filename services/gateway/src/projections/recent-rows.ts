import type { Row } from "@reeve/jetstream/table/port";

/**
 * The rows that were written last, so that whoever writes one again needs not read it: at most `most`. What somebody else
 * wrote meanwhile shows when the row is compared with the store's.
 */
export class RecentRows<Record> {
  readonly #most: number;
  /** In the order in which they were written. */
  readonly #rows = new Map<string, Row<Record>>();

  constructor(max: number) {
    this.#most = max;
  }

  /** How many rows are held. */
  get size(): number {
    return this.#rows.size;
  }

  get(key: string): Row<Record> | undefined {
    return this.#rows.get(key);
  }

  keep(row: Row<Record>): void {
    this.#rows.delete(row.key);
    this.#rows.set(row.key, row);
    if (this.#rows.size <= this.#most) return;
    const [oldest] = this.#rows.keys();
    if (oldest !== undefined) this.#rows.delete(oldest);
  }

  forget(key: string): void {
    this.#rows.delete(key);
  }
}
