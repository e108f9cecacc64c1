import { temporalExecutor } from "@reeve/agent/executors/temporal";
import type { QueueHolder } from "@reeve/contracts/queue";
import type { Table } from "@reeve/jetstream/table/port";
import type { Ownership } from "@reeve/run/head/ownership";

/** The processes that take work, by name. */
export type KnownHolders = Pick<Table<QueueHolder>, "get">;

/**
 * Returns whether the owner of a run is a worker that got it from another executor than the queue, and is not known to be dead. No message
 * of the queue then stands for the owner. If the executor has lost the run, the death of the owner makes it due for a dispatch.
 */
export async function hasCarryingWorker(
  holders: KnownHolders | undefined,
  { claim, parkedAt }: Ownership,
  signal: AbortSignal,
): Promise<boolean> {
  if (holders === undefined || claim === undefined || parkedAt !== undefined) return false;
  const row = await holders.get(claim.worker, signal);
  return row?.record.executor === temporalExecutor.name && !row.record.crashed;
}
