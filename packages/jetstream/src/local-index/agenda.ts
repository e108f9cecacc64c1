import type { SQLOutputValue, StatementSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import type { IndexDatabase } from "./index-database.ts";
import { mergeOrdered } from "./merge-ordered.ts";

/** Which records of a table have to be looked at again, and when. */
export interface AgendaDefinition {
  /** Records of these kinds have no entries. */
  readonly closedKinds: readonly number[];
  /** How long after a change of a record its entry is due. */
  readonly graceMs: number;
  /** Time since the machine started, in milliseconds. */
  now(): number;
}

/** A record to look at. */
export interface AgendaEntry {
  readonly key: string;
  readonly kind: number;
  /** The version of the record. */
  readonly revision: number;
  /** How long the entry waited until it was due. */
  readonly delayMs: number;
  /** What the last look at the record left; empty: nothing. */
  readonly memo: string;
}

type Row = Record<string, SQLOutputValue>;

/** How many shards the entries are divided into. */
export const shardCount = 64;

/**
 * The records that have to be looked at, by the time at which each is due. An entry is written with its record; a change of the
 * record makes it due again.
 */
export class Agenda {
  readonly #definition: AgendaDefinition;
  readonly #database: IndexDatabase;
  readonly #upsert: StatementSync;
  readonly #delete: StatementSync;
  readonly #postpone: StatementSync;
  /** The queries of due entries, by order and shard. A query is open only while it is read. */
  readonly #due = {
    first: new Map<number, StatementSync>(),
    last: new Map<number, StatementSync>(),
  };

  /** Returns the statements that create the table of an agenda. */
  static layout({ closedKinds }: AgendaDefinition): string {
    return `/* agenda without ${closedKinds.join()} */ CREATE TABLE IF NOT EXISTS agenda (
      key TEXT PRIMARY KEY, shard INTEGER, due REAL, kind INTEGER, revision INTEGER, delay REAL, memo TEXT
    ) WITHOUT ROWID; CREATE INDEX IF NOT EXISTS by_due ON agenda (shard, due);`;
  }

  constructor(definition: AgendaDefinition, database: IndexDatabase) {
    this.#definition = definition;
    this.#database = database;
    this.#upsert = database.sql.prepare(
      `INSERT INTO agenda VALUES (?, ?, ?, ?, ?, ?, '') ON CONFLICT (key) DO UPDATE
       SET due = excluded.due, kind = excluded.kind, revision = excluded.revision, delay = excluded.delay`,
    );
    this.#delete = database.sql.prepare("DELETE FROM agenda WHERE key = ?");
    this.#postpone = database.sql.prepare(
      "UPDATE agenda SET due = ?, delay = ?, memo = ? WHERE key = ? AND revision = ?",
    );
  }

  /** Writes or removes the entry of a record that changed. Call it in `write` of the database. */
  note(key: string, kind: number, revision: number): void {
    const { closedKinds, graceMs } = this.#definition;
    const due = this.#definition.now() + graceMs;
    if (closedKinds.includes(kind)) this.remove(key);
    else this.#upsert.run(key, shardOf(key), due, kind, revision, graceMs);
  }

  remove(key: string): void {
    this.#delete.run(key);
  }

  /** Returns the due entries of some shards: those that became due last, or first, at most `limit`. Reads no others. */
  due(shards: Iterable<number>, order: "last" | "first", limit: number): readonly AgendaEntry[] {
    const nowMs = this.#definition.now();
    const ranges = [...shards].map((shard) => this.#dueIn(shard, order).iterate(shard, nowMs));
    const isBefore = (a: Row, b: Row) =>
      order === "last" ? Number(a["due"]) > Number(b["due"]) : Number(a["due"]) < Number(b["due"]);
    const entries: AgendaEntry[] = [];
    for (const row of mergeOrdered(ranges, isBefore))
      if (entries.push(entryOf(row)) >= limit) break;
    return entries;
  }

  #dueIn(shard: number, order: "last" | "first"): StatementSync {
    const known = this.#due[order].get(shard);
    if (known !== undefined) return known;
    const statement = this.#database.sql.prepare(dueQuery(order));
    this.#due[order].set(shard, statement);
    return statement;
  }

  /** Makes an entry due after a delay, unless its record has changed since. */
  postpone({ key, revision }: AgendaEntry, delayMs: number, memo: string): void {
    this.#postpone.run(this.#definition.now() + delayMs, delayMs, memo, key, revision);
  }
}

/** Returns the query of the due entries of a shard. */
export function dueQuery(order: "last" | "first"): string {
  return `SELECT key, kind, revision, delay, memo, due FROM agenda
    WHERE shard = ? AND due <= ? ORDER BY due ${order === "last" ? "DESC" : "ASC"}`;
}

function entryOf(row: Row): AgendaEntry {
  return {
    key: String(row["key"]),
    kind: Number(row["kind"]),
    revision: Number(row["revision"]),
    delayMs: Number(row["delay"]),
    memo: String(row["memo"]),
  };
}

function shardOf(key: string): number {
  return crc32(key) % shardCount;
}
