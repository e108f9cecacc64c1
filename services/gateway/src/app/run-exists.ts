import type { BatchReader } from "@reeve/jetstream/log/port";
import type { RunKey } from "@reeve/jetstream/log/run-log";

/** Whether there is a run with this key, or a part of one that is being deleted. Reads one batch of its log. */
export async function runExists(
  { logBatches }: { readonly logBatches: BatchReader<RunKey> },
  key: RunKey,
  signal: AbortSignal,
): Promise<boolean> {
  for await (const _ of logBatches.readBatches(key, signal)) return true;
  return false;
}
