import type { SQLOutputValue, StatementSync } from "node:sqlite";
import type { IndexDatabase } from "./index-database.ts";
import { mergeOrdered } from "./merge-ordered.ts";
import type { OrderRange, RowOutline } from "./row-outline.ts";
import { outlineQuery } from "./row-outline.ts";

type Direction = "ascending" | "descending";

/** How the records of a table are filtered and ordered. */
export interface IndexDefinition<Item, Field extends string> {
  /** The name of the index. */
  readonly name: string;
  /** Changes when a function of this definition returns something else for a record, so that existing files are not used. */
  readonly version: number;
  /** Returns what lists are ordered by: unique for each record of a tenant. */
  readonly orderOf: (record: Item) => string;
  readonly direction: Direction;
  /** Returns one of a few numbers by which lists are filtered, such as a status. */
  readonly kindOf: (record: Item) => number;
  /** The numbers that are filtered by. All others count as one kind. */
  readonly kinds: readonly number[];
  /** Whether lists show a record. Default: all. */
  readonly isListed?: (record: Item) => boolean;
  /** Texts by which lists are filtered; their names are names of columns. */
  readonly fields: Readonly<Record<Field, (record: Item) => string>>;
  /** The fields by whose values the records of a kind are counted. Default: none. */
  readonly countedFields?: readonly Field[];
  /** A number of each record that can be summed. Default: none. */
  readonly measure?: Measure<Item>;
}

/** A number of each record, such as a size. */
export interface Measure<Item> {
  /** Returns where a record is on an axis, such as a day, so that sums can begin somewhere. */
  readonly at: (record: Item) => number;
  readonly amount: (record: Item) => number;
}

/** Selects records of a tenant. What is not given selects all. */
export interface Selection<Field extends string> {
  readonly tenant: string;
  readonly kinds?: readonly number[];
  readonly fields?: Readonly<Partial<Record<Field, string>>>;
}

/** How many records of a tenant and a kind have a value of a field. */
export interface ValueCount {
  readonly value: string;
  readonly count: number;
}

/** Which records are counted by the values of a field. */
export interface CountedRecords<Field extends string> {
  readonly tenant: string;
  readonly kind: number;
  /** One of the counted fields of the definition. */
  readonly field: Field;
}

/** How far counting goes. */
export interface CountLimits {
  /** How many records are counted at most. */
  readonly records: number;
  /** How many values are returned at most. */
  readonly values: number;
}

/** A record of an index, as stored. */
export interface IndexedRow {
  readonly order: string;
  readonly bytes: Uint8Array;
}

type Row = Record<string, SQLOutputValue>;

const otherKind = -1;

/**
 * The records of a table in an index, which reads a list in the order of the list. Each index of the file ends with the kind and
 * the order, so that every list is merged from one range for each kind.
 */
export class IndexedRows<Item, Field extends string> {
  /** The order of lists. */
  readonly direction: Direction;
  readonly #definition: IndexDefinition<Item, Field>;
  readonly #database: IndexDatabase;
  readonly #upsert: StatementSync;
  readonly #delete: StatementSync;
  readonly #has: StatementSync;

  constructor(definition: IndexDefinition<Item, Field>, database: IndexDatabase) {
    this.direction = definition.direction;
    this.#definition = definition;
    this.#database = database;
    const fixed = ["key", "tenant", "kind", "position"];
    const measured = definition.measure === undefined ? [] : ["at", "amount"];
    const columns = [...fixed, ...fieldsOf(definition), ...measured, "bytes"];
    const changes = columns.slice(2).map((column) => `${column} = excluded.${column}`);
    this.#upsert = database.sql.prepare(
      `INSERT INTO records (${columns.join()}) VALUES (${columns.map(() => "?").join()})
       ON CONFLICT (key) DO UPDATE SET ${changes.join()}`,
    );
    this.#delete = database.sql.prepare("DELETE FROM records WHERE key = ?");
    this.#has = database.sql.prepare("SELECT 1 FROM records WHERE key = ?");
  }

  /** Returns the statements that create the tables of an index. */
  static layout<Item, Field extends string>(definition: IndexDefinition<Item, Field>): string {
    const fields = fieldsOf(definition);
    const { version, kinds, countedFields = [], measure } = definition;
    const counted: readonly string[] = countedFields;
    const columnsOf = (field: string) =>
      field === "" ? "kind" : counted.includes(field) ? `kind, ${field}` : `${field}, kind`;
    // With the amount, outlines are read from the index alone.
    const last = measure === undefined ? "position" : "position, amount";
    const indexes = ["", ...fields].map(
      (field) =>
        `CREATE INDEX IF NOT EXISTS ${indexOf(field)} ON records (tenant, ${columnsOf(field)}, ${last});`,
    );
    const sums = ["tenant", "at", ...fields, "amount"].join();
    if (measure !== undefined) {
      indexes.push(`CREATE INDEX IF NOT EXISTS by_measure ON records (${sums});`);
    }
    // The bytes are last: what follows a large value in a row is read page by page of it.
    return `/* version ${version}, kinds ${kinds.join()} */ CREATE TABLE IF NOT EXISTS records (
      id INTEGER PRIMARY KEY, key TEXT UNIQUE, tenant TEXT, kind INTEGER, position TEXT,
      ${fields.map((field) => `${field} TEXT, `).join("")} ${measure ? "at REAL, amount REAL, " : ""} bytes BLOB
    ); ${indexes.join(" ")}`;
  }

  /** Writes a record. Call it in `write` of the database. */
  put(key: string, record: Item, bytes: Uint8Array): void {
    const { orderOf, fields, measure } = this.#definition;
    const values = fieldsOf(this.#definition).map((field) => fields[field](record));
    const kind = this.#knownKind(this.#definition.kindOf(record));
    const measured = measure === undefined ? [] : [measure.at(record), measure.amount(record)];
    this.#upsert.run(key, tenantOf(key), kind, orderOf(record), ...values, ...measured, bytes);
  }

  /** Deletes a record, if it is there. Call it in `write` of the database. */
  delete(key: string): void {
    this.#delete.run(key);
  }

  /** Yields the selected records that follow `after`, in the order of lists or in a given one. Reads each when it is needed. */
  *select(
    selection: Selection<Field>,
    after: string | undefined,
    direction: Direction = this.#definition.direction,
  ): Iterable<IndexedRow> {
    const { sql, values } = this.query(selection, after, direction);
    const ranges = this.#kindsOf(selection).map((kind) =>
      this.#database.sql.prepare(sql).iterate({ kind, ...values }),
    );
    const isBefore = (a: string, b: string) => (direction === "ascending" ? a < b : a > b);
    const isRowBefore = (a: Row, b: Row) => isBefore(String(a["position"]), String(b["position"]));
    for (const { position, bytes } of mergeOrdered(ranges, isRowBefore)) {
      if (!(bytes instanceof Uint8Array)) throw new Error("a record of the index has no bytes");
      yield { order: String(position), bytes };
    }
  }

  /**
   * Returns the first records in the order of lists, at most `limit`, without their bytes: counting them costs a small part of what
   * decoding them costs. They have the kinds and the first given field of the selection, and say whether they have the others.
   */
  outline(selection: Selection<Field>, range: OrderRange, limit: number): readonly RowOutline[] {
    const { sql, values } = this.outlineQuery(selection, range);
    return this.#database.sql
      .prepare(sql)
      .all({ ...values, limit })
      .map((row) => ({
        order: String(row["position"]),
        kind: Number(row["kind"]),
        amount: Number(row["amount"]),
        isSelected: row["is_selected"] === 1,
      }));
  }

  /** Returns the query of `outline`, and the values of its parameters but the limit. */
  outlineQuery(selection: Selection<Field>, range: OrderRange) {
    const { source, conditions, values } = this.#source(selection);
    const sql = outlineQuery(
      {
        source,
        conditions: conditions.slice(0, 2),
        otherConditions: conditions.slice(2),
        kinds: this.#kindsOf(selection),
        hasMeasure: this.#definition.measure !== undefined,
        isAscending: this.direction === "ascending",
      },
      range,
    );
    const given = Object.entries({ ...values, ...range }).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    );
    return { sql, values: Object.fromEntries(given) };
  }

  /** Returns how many records are selected; of more than `limit` of a kind, that there are as many. */
  count(selection: Selection<Field>, limit: number): number {
    const { sql, values } = this.query(selection, undefined);
    const counting = this.#database.sql.prepare(
      `SELECT count(*) AS count FROM (${sql} LIMIT :limit)`,
    );
    const counts = (selection.kinds ?? this.#definition.kinds).map((kind) =>
      Number(counting.get({ kind, limit, ...values })?.["count"] ?? 0),
    );
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /** Returns how many records have each value of a field, the most first. Reads the index only, in its order. */
  countBy(
    { tenant, kind, field }: CountedRecords<Field>,
    limits: CountLimits,
  ): readonly ValueCount[] {
    const counting = this.#database.sql.prepare(
      `SELECT value, count(*) AS count FROM (${countedQuery(field)}) GROUP BY value
       ORDER BY count DESC, value LIMIT :values`,
    );
    return counting
      .all({ tenant, kind: this.#knownKind(kind), ...limits })
      .map((row) => ({ value: String(row["value"]), count: Number(row["count"]) }));
  }

  /** Returns the sum of the measure over the records of a tenant, of all kinds, that are at `from` or after it. */
  sum({ tenant, fields }: Omit<Selection<Field>, "kinds">, from: number): number {
    const given = fieldsOf(this.#definition).filter((field) => fields?.[field] !== undefined);
    const conditions = given.map((field) => ` AND ${field} = :${field}`).join("");
    const wanted = Object.fromEntries(given.map((field) => [field, fields?.[field] ?? ""]));
    const summing = this.#database.sql.prepare(
      `SELECT total(amount) AS sum FROM records INDEXED BY by_measure
       WHERE tenant = :tenant AND at >= :from${conditions}`,
    );
    return Number(summing.get({ tenant, from, ...wanted })?.["sum"] ?? 0);
  }

  /** Whether there is a record with this key. */
  has(key: string): boolean {
    return this.#has.get(key) !== undefined;
  }

  /** Returns the query of the records of one kind, and the values of its parameters but the kind. */
  query(
    selection: Selection<Field>,
    after: string | undefined,
    direction: Direction = this.#definition.direction,
  ) {
    const [comparison, order] = direction === "ascending" ? [">", "ASC"] : ["<", "DESC"];
    const { source, conditions, values } = this.#source(selection);
    const wanted = [
      ...conditions,
      "kind = :kind",
      ...(after === undefined ? [] : [`position ${comparison} :after`]),
    ];
    const sql = `SELECT position, bytes FROM ${source}
      WHERE ${wanted.join(" AND ")} ORDER BY position ${order}`;
    return { sql, values: { ...values, ...(after !== undefined && { after }) } };
  }

  /**
   * Returns the index that has the fewest records besides the selected ones, and the conditions without that of the kind: first those
   * of the tenant and of the index.
   */
  #source({ tenant, fields }: Selection<Field>) {
    const given = fieldsOf(this.#definition).filter((field) => fields?.[field] !== undefined);
    return {
      source: `records INDEXED BY ${indexOf(given[0] ?? "")}`,
      conditions: ["tenant = :tenant", ...given.map((field) => `${field} = :${field}`)],
      values: {
        tenant,
        ...Object.fromEntries(given.map((field) => [field, fields?.[field] ?? ""])),
      },
    };
  }

  #kindsOf({ kinds }: Selection<Field>): readonly number[] {
    const selected = kinds ?? [...this.#definition.kinds, otherKind];
    return [...new Set(selected.map((kind) => this.#knownKind(kind)))];
  }

  #knownKind(kind: number): number {
    return this.#definition.kinds.includes(kind) ? kind : otherKind;
  }
}

/** Returns the query of the values of a counted field. */
export function countedQuery(field: string): string {
  return `SELECT ${field} AS value FROM records INDEXED BY ${indexOf(field)}
    WHERE tenant = :tenant AND kind = :kind ORDER BY ${field} LIMIT :records`;
}

function fieldsOf<Item, Field extends string>({
  fields,
}: IndexDefinition<Item, Field>): readonly Field[] {
  return Object.keys(fields).filter((field): field is Field => field in fields);
}

function indexOf(field: string): string {
  return field === "" ? "by_position" : `by_${field}`;
}

function tenantOf(key: string): string {
  const [tenant = ""] = key.split(".", 1);
  return tenant;
}
