import type { StatementSync } from "node:sqlite";
import { maxPageBytes } from "../table/page.ts";
import { maxBatchedChanges } from "../table/port.ts";
import type { IndexDatabase } from "./index-database.ts";
import { tenantOfKey } from "../table/unreadable-rows.ts";

/** A record of an index that changed. */
export interface ChangedRow {
  readonly bytes: Uint8Array;
  /** The revision of the record. */
  readonly revision: number;
}

/** Some of the records that changed. */
export interface ChangedBatch {
  readonly rows: readonly ChangedRow[];
  /** Whether more records follow. */
  readonly isCut: boolean;
}

/** The order in which the records of an index changed last, so that a reader can continue after what it has. */
export class ChangeOrder {
  readonly #note: StatementSync;
  readonly #delete: StatementSync;
  readonly #after: StatementSync;

  /** Returns the statements that create the table of the order. */
  static layout(): string {
    return `/* order of changes */ CREATE TABLE IF NOT EXISTS changes (key TEXT PRIMARY KEY, tenant TEXT, revision INTEGER);
      CREATE INDEX IF NOT EXISTS by_revision ON changes (tenant, revision, key);`;
  }

  constructor({ sql }: IndexDatabase) {
    this.#note = sql.prepare("INSERT OR REPLACE INTO changes VALUES (?, ?, ?)");
    this.#delete = sql.prepare("DELETE FROM changes WHERE key = ?");
    this.#after = sql.prepare(changedQuery);
  }

  /** Notes a change of a record. Call it in `write` of the database. */
  note(key: string, revision: number): void {
    this.#note.run(key, tenantOfKey(key), revision);
  }

  /** Removes a record. Call it in `write` of the database. */
  remove(key: string): void {
    this.#delete.run(key);
  }

  /** Returns the records of a tenant that changed after a revision, those that changed first, as many as a batch has. Reads no others. */
  after(tenant: string, revision: number): ChangedBatch {
    const rows: ChangedRow[] = [];
    let room = maxPageBytes;
    for (const row of this.#after.iterate({ tenant, revision })) {
      const { bytes } = row;
      if (!(bytes instanceof Uint8Array)) throw new Error("a record of the index has no bytes");
      room -= bytes.length;
      const isFull = rows.length === maxBatchedChanges || room < 0;
      if (isFull && rows.length > 0) return { rows, isCut: true };
      rows.push({ bytes, revision: Number(row["revision"]) });
    }
    return { rows, isCut: false };
  }
}

/** The query of changed records. */
export const changedQuery = `SELECT changes.revision AS revision, records.bytes AS bytes
  FROM changes INDEXED BY by_revision CROSS JOIN records ON records.key = changes.key
  WHERE changes.tenant = :tenant AND changes.revision > :revision
  ORDER BY changes.revision`;
