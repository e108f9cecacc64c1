import type { StoredBatch } from "../stored-batch.ts";

/** The approximate size of the headers of a batch, so that a read of many tiny batches is bounded too. */
const batchOverheadBytes = 512;

/** Returns about how many bytes of a connection batches take. */
export function bytesOf(...batches: readonly Pick<StoredBatch, "data">[]): number {
  return batches.reduce((sum, { data }) => sum + data.length + batchOverheadBytes, 0);
}
