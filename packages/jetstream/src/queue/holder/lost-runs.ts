import type { QueueHolder as HolderRow } from "@reeve/contracts/queue";
import type { Table } from "../../table/port.ts";

/** The runs that a worker had from an executor when it was found dead. */
export interface LostRuns {
  readonly worker: string;
  readonly runs: readonly string[];
}

/**
 * Yields the runs of each worker that is proven dead, until `signal` aborts, also of those that died before. Of several processes that
 * ask, one gets the runs of a worker. If that one dies, nobody gets them. Throws a Failure when the store is lost.
 */
export async function* takeLostRuns(
  table: Pick<Table<HolderRow>, "update" | "watch">,
  signal: AbortSignal,
): AsyncIterable<LostRuns> {
  for await (const change of table.watch("", signal)) {
    if (change.kind !== "written") continue;
    const { key: worker, record, revision } = change.row;
    if (!record.crashed || record.carriedRuns.length === 0) continue;
    // A change of the row would make the holder that releases its messages release them again. It writes the row when it has done so.
    if (record.held.length > 0) continue;
    // If the row has changed since, that change follows.
    const taken = await table.update(worker, { ...record, carriedRuns: [] }, revision, signal);
    if (taken !== undefined) yield { worker, runs: record.carriedRuns };
  }
}
