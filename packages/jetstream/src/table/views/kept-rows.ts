import type { Row } from "../port.ts";

const defaultMaxRows = 1_000;
const defaultMaxBytes = 16 * 1024 * 1024;
const defaultMaxRowBytes = 64 * 1024;

interface KeptRowsOptions<Record> {
  /** Returns the size of an encoded record. */
  readonly bytesOf: (record: Record) => number;
  /** Default: 1,000. */
  readonly maxRows?: number;
  /** How large all rows may be together, encoded. Default: 16 MiB. */
  readonly maxBytes?: number;
  /** How large a row may be, encoded. Default: 64 KiB. */
  readonly maxRowBytes?: number;
}

/** Rows in memory, of which those that were read last are kept within limits. */
export class KeptRows<Record> {
  /** The one that was read last is last. */
  readonly #rows = new Map<string, { readonly row: Row<Record>; readonly bytes: number }>();
  readonly #limits: Required<KeptRowsOptions<Record>>;
  #bytes = 0;

  constructor(options: KeptRowsOptions<Record>) {
    this.#limits = {
      maxRows: defaultMaxRows,
      maxBytes: defaultMaxBytes,
      maxRowBytes: defaultMaxRowBytes,
      ...options,
    };
  }

  get(key: string): Row<Record> | undefined {
    const kept = this.#rows.get(key);
    if (kept === undefined) return undefined;
    this.#rows.delete(key);
    this.#rows.set(key, kept);
    return kept.row;
  }

  /** Keeps a row instead of those that were read longest ago. One that is too large is not kept. */
  keep(row: Row<Record>): void {
    const { bytesOf, maxRows, maxBytes, maxRowBytes } = this.#limits;
    this.delete(row.key);
    const bytes = bytesOf(row.record);
    if (bytes > maxRowBytes) return;
    this.#rows.set(row.key, { row, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#rows.keys()) {
      if (this.#rows.size <= maxRows && this.#bytes <= maxBytes) return;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    this.#bytes -= this.#rows.get(key)?.bytes ?? 0;
    this.#rows.delete(key);
  }

  keys(): IterableIterator<string> {
    return this.#rows.keys();
  }
}
