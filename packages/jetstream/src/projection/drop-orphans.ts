import type { TailReader } from "../log/port.ts";
import type { Row, Table } from "../table/port.ts";

/** Rows that follow from logs. */
export interface RowsOfLogs<Key, Record> {
  readonly rows: Pick<Table<Record>, "watch" | "deleteVersion">;
  readonly logs: Pick<TailReader<Key, unknown>, "last">;
  /** Returns the key of the log of a row. Undefined: the row stays. */
  logOf(row: Row<Record>): Key | undefined;
  /** Deletes what else is left of a log that is gone. Returns whether the row can be deleted; otherwise it stays. */
  complete?(row: Row<Record>, signal: AbortSignal): Promise<boolean>;
}

/**
 * Deletes a row as it was written if its log does not exist, because the log was removed after the writer had read it. Returns
 * whether it did. A deletion of a log removes the log before its rows, so either this or the deletion removes the row.
 */
export async function dropOrphan<Key, Record>(
  { rows, logs, logOf, complete }: RowsOfLogs<Key, Record>,
  row: Row<Record>,
  signal: AbortSignal,
): Promise<boolean> {
  const key = logOf(row);
  if (key === undefined) return false;
  const { tail } = await logs.last(key, signal);
  if (tail.sequence > 0) return false;
  if (complete !== undefined && !(await complete(row, signal))) return false;
  return await rows.deleteVersion(row.key, row.revision, signal);
}

/** Deletes all rows whose log does not exist. Returns how many. */
export async function dropOrphans<Key, Record>(
  projection: RowsOfLogs<Key, Record>,
  signal: AbortSignal,
): Promise<number> {
  let dropped = 0;
  for await (const change of projection.rows.watch("", signal)) {
    if (change.kind === "current") break;
    if (change.kind !== "written") continue;
    if (await dropOrphan(projection, change.row, signal)) dropped++;
  }
  return dropped;
}
