import { equals } from "@bufbuild/protobuf";
import { bucketOf } from "@reeve/contracts/channel";
import { ThreadSchema } from "@reeve/contracts/thread";
import type { ThreadKey } from "@reeve/jetstream/log/thread-log";
import type { LogEnd } from "@reeve/jetstream/projection/port";
import { foldWhole } from "@reeve/run/thread/read-thread";
import { threadRow } from "@reeve/run/thread/thread-row";
import type { ThreadIndexPorts } from "./thread-index.ts";

const { key: threadKey } = bucketOf(ThreadSchema);
const maxAttempts = 20;

/**
 * Makes the row of a thread agree with its log. Returns whether it did not. `quick` skips threads whose row reflects the last
 * event, because each event changes the row.
 */
export async function compareThread(
  { threads, index }: Omit<ThreadIndexPorts, "feed">,
  { key, sequence }: LogEnd<ThreadKey>,
  mode: "thorough" | "quick",
  signal: AbortSignal,
): Promise<boolean> {
  const rowKey = threadKey({ tenant: key.tenant, thread: key.thread });
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const row = await index.get(rowKey, signal);
    if (mode === "quick" && row?.record.lastSequence === sequence) return false;
    const { head } = await foldWhole(threads, key, signal);
    if (head.sequence === 0) return false;
    if (head.sequence < sequence) {
      throw new Error(`the log of thread ${key.thread} was read from a lagging replica`);
    }
    const after = threadRow(key.thread, head);
    if (after === undefined) {
      if (row === undefined) return false;
      if (await index.deleteVersion(rowKey, row.revision, signal)) return true;
      continue;
    }
    if (row !== undefined && equals(ThreadSchema, row.record, after)) return false;
    const written =
      row === undefined
        ? await index.create(rowKey, after, signal)
        : await index.update(rowKey, after, row.revision, signal);
    if (written !== undefined) return true;
  }
  throw new Error(
    `the row of thread ${key.thread} was not written: other writers were first in all ${maxAttempts} attempts`,
  );
}
