import type { StatementSync } from "node:sqlite";
import type { IndexDatabase } from "./index-database.ts";
import type { ValueCount } from "./indexed-rows.ts";
import { tenantOfKey } from "../table/unreadable-rows.ts";

/** A value that a record counts for. The values of one name are counted beside each other. */
export interface Tally {
  readonly name: string;
  readonly value: string;
}

/** Selects the tallies of a name. */
export interface TallyName {
  readonly tenant: string;
  readonly name: string;
}

/**
 * Numbers of records by the values that they count for, kept with each change of a record. Reading them costs as much as there are
 * values, however many records there are.
 */
export class Tallies {
  readonly #known: StatementSync;
  readonly #remember: StatementSync;
  readonly #forget: StatementSync;
  readonly #add: StatementSync;
  readonly #subtract: StatementSync;
  readonly #remove: StatementSync;
  readonly #one: StatementSync;
  readonly #largest: StatementSync;

  /** Returns the statements that create the tables of tallies. */
  static layout(): string {
    return `/* tallies, of version 2 */ CREATE TABLE IF NOT EXISTS tallied (key TEXT PRIMARY KEY, entries TEXT) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS tallies (tenant TEXT, name TEXT, value TEXT, count INTEGER,
        PRIMARY KEY (tenant, name, value)) WITHOUT ROWID;
      CREATE INDEX IF NOT EXISTS by_count ON tallies (tenant, name, count DESC, value);`;
  }

  constructor({ sql }: IndexDatabase) {
    this.#known = sql.prepare("SELECT entries FROM tallied WHERE key = ?");
    this.#remember = sql.prepare("INSERT OR REPLACE INTO tallied VALUES (?, ?)");
    this.#forget = sql.prepare("DELETE FROM tallied WHERE key = ?");
    this.#add = sql.prepare(
      "INSERT INTO tallies VALUES (?, ?, ?, 1) ON CONFLICT (tenant, name, value) DO UPDATE SET count = count + 1",
    );
    const one = "tenant = ? AND name = ? AND value = ?";
    this.#subtract = sql.prepare(`UPDATE tallies SET count = count - 1 WHERE ${one}`);
    this.#remove = sql.prepare(`DELETE FROM tallies WHERE ${one} AND count <= 0`);
    this.#one = sql.prepare(`SELECT count FROM tallies WHERE ${one}`);
    this.#largest = sql.prepare(largestQuery);
  }

  /** Notes what a record counts for from now on. Call it in `write` of the database. */
  note(key: string, tallies: readonly Tally[]): void {
    const entries = JSON.stringify(tallies.map(({ name, value }) => [name, value]));
    const known = this.#entriesOf(key);
    if (known === entries) return;
    this.#discount(key, known);
    const tenant = tenantOfKey(key);
    for (const { name, value } of tallies) this.#add.run(tenant, name, value);
    this.#remember.run(key, entries);
  }

  /** Removes a record. Call it in `write` of the database. */
  remove(key: string): void {
    const known = this.#entriesOf(key);
    if (known === undefined) return;
    this.#discount(key, known);
    this.#forget.run(key);
  }

  /** Returns how many records of a tenant count for a value. */
  count({ tenant, name }: TallyName, value: string): number {
    return Number(this.#one.get(tenant, name, value)?.["count"] ?? 0);
  }

  /** Returns the values of a name with their numbers, the most first. */
  largest({ tenant, name }: TallyName, limit: number): readonly ValueCount[] {
    return this.#largest
      .all({ tenant, name, limit })
      .map((row) => ({ value: String(row["value"]), count: Number(row["count"]) }));
  }

  #entriesOf(key: string): string | undefined {
    const entries = this.#known.get(key)?.["entries"];
    return entries === undefined ? undefined : String(entries);
  }

  #discount(key: string, entries: string | undefined): void {
    if (entries === undefined) return;
    const tenant = tenantOfKey(key);
    for (const [name, value] of pairsOf(entries)) {
      this.#subtract.run(tenant, name, value);
      this.#remove.run(tenant, name, value);
    }
  }
}

/** The query of the values of a name. */
export const largestQuery = `SELECT value, count FROM tallies INDEXED BY by_count
  WHERE tenant = :tenant AND name = :name ORDER BY count DESC, value LIMIT :limit`;

function pairsOf(entries: string): readonly (readonly [string, string])[] {
  const pairs: unknown = JSON.parse(entries);
  if (!Array.isArray(pairs)) throw new Error("the tallies of a record are damaged");
  return pairs.map((pair: unknown) => {
    const [name, value]: readonly unknown[] = Array.isArray(pair) ? pair : [];
    return [String(name), String(value)];
  });
}
