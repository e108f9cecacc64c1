import type { ThreadKey } from "@reeve/jetstream/log/thread-log";
import type { ThreadHead } from "@reeve/contracts/thread";
import { appendThread } from "./append-thread.ts";
import { refreshThread } from "./read-thread.ts";
import { busyThread, noSuchThread } from "./refusals.ts";
import { settleFrom } from "./settle-thread.ts";
import type { ThreadPorts } from "./thread-ports.ts";

/**
 * Deletes a thread that has no open turns. Its runs and its log are kept, but clients no longer see the thread. Throws a
 * Failure of kind `not_found` for a thread that does not exist, and `precondition` while a run is in progress or waits.
 */
export async function deleteThread(
  ports: ThreadPorts,
  key: ThreadKey,
  deletedBy: string,
  signal: AbortSignal,
): Promise<void> {
  const seen = await refreshThread(ports.threads, key, undefined, signal);
  // The turn of a run that has just ended may still be open.
  if (seen.head.openTurns.length > 0) await settleFrom(ports, key, seen, signal);
  const now = await refreshThread(ports.threads, key, seen, signal);
  const decide = ({ sequence, deleted, openTurns: [open] }: ThreadHead) => {
    if (sequence === 0 || deleted) throw noSuchThread(key.thread);
    if (open === undefined) return [{ case: "threadDeleted", value: { deletedBy } } as const];
    throw busyThread(key.thread, open.runId, "wait for its end, or cancel it");
  };
  await appendThread(ports.threads, key, now, decide, signal);
}
