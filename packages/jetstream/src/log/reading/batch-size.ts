import type { StoredBatch } from "../stored-batch.ts";

/** The approximate size of the headers of a batch, so that many tiny batches are bounded too. */
const batchOverheadBytes = 512;

/** Returns about how many bytes batches take, on a connection or in memory. */
export function bytesOf(...batches: readonly Pick<StoredBatch, "data">[]): number {
  return batches.reduce((sum, { data }) => sum + data.length + batchOverheadBytes, 0);
}
