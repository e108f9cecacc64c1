import { forEach } from "@reeve/platform/async/for-each";
import { Failure } from "@reeve/platform/failure";
import type { TailReader } from "../log/port.ts";
import { isUnreadableForGood } from "../sealing/key-failures.ts";
import type { Row, Table } from "../table/port.ts";
import type { DroppedRows } from "./port.ts";

/** Rows whose logs are looked for at a time. */
const maxConcurrent = 8;

/** Rows that follow from logs. */
export interface RowsOfLogs<Key, Record> {
  readonly rows: Pick<Table<Record>, "watch" | "deleteVersion">;
  readonly logs: Pick<TailReader<Key, unknown>, "last">;
  /** Returns the key of the log of a row. Undefined: the row stays. */
  logOf(row: Row<Record>): Key | undefined;
  /** Deletes what else is left of a log that is gone. Returns whether it succeeded; otherwise the row stays. */
  complete?(row: Row<Record>, signal: AbortSignal): Promise<boolean>;
}

/**
 * Deletes a row as it was written if its log does not exist, because the log was removed after the writer had read it. Returns
 * whether it did. A deletion of a log removes the log before its rows, so either this or the deletion removes the row.
 */
export async function dropOrphan<Key, Record>(
  projection: Omit<RowsOfLogs<Key, Record>, "complete">,
  row: Row<Record>,
  signal: AbortSignal,
): Promise<boolean> {
  if (!(await isOrphan(projection, row, signal))) return false;
  return await projection.rows.deleteVersion(row.key, row.revision, signal);
}

/**
 * Completes the deletion of all rows whose log does not exist. A row of which the store does not say whether it has a log counts
 * as failed and stays, and so does one whose tenant's key is not available. One whose log exists and can never be read is kept.
 */
export async function dropOrphans<Key, Record>(
  projection: RowsOfLogs<Key, Record>,
  signal: AbortSignal,
): Promise<DroppedRows> {
  const counts = { dropped: 0, failed: 0 };
  async function* items(until: AbortSignal): AsyncIterable<Row<Record>> {
    for await (const change of projection.rows.watch("", until)) {
      if (change.kind === "current") return;
      if (change.kind === "unreadable" && change.error.kind === "unavailable") counts.failed++;
      if (change.kind === "written") yield change.row;
    }
  }
  const work = async (row: Row<Record>, until: AbortSignal) => {
    const outcome = await completeRow(projection, row, until);
    if (outcome !== "kept") counts[outcome]++;
  };
  await forEach({ items, max: maxConcurrent, work }, signal);
  return counts;
}

async function completeRow<Key, Record>(
  projection: RowsOfLogs<Key, Record>,
  row: Row<Record>,
  signal: AbortSignal,
): Promise<"kept" | "dropped" | "failed"> {
  const { rows, complete } = projection;
  try {
    if (!(await isOrphan(projection, row, signal))) return "kept";
    if (complete !== undefined && !(await complete(row, signal))) return "failed";
    return (await rows.deleteVersion(row.key, row.revision, signal)) ? "dropped" : "kept";
  } catch (error) {
    signal.throwIfAborted();
    if (isUnreadableForGood(error)) return "kept";
    if (error instanceof Failure && error.kind === "unavailable") return "failed";
    throw error;
  }
}

async function isOrphan<Key, Record>(
  { logs, logOf }: Pick<RowsOfLogs<Key, Record>, "logs" | "logOf">,
  row: Row<Record>,
  signal: AbortSignal,
): Promise<boolean> {
  const key = logOf(row);
  return key !== undefined && (await logs.last(key, signal)).tail.sequence === 0;
}
