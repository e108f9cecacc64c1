import type { Thread } from "@reeve/contracts/thread";
import type { ThreadKey } from "@reeve/jetstream/log/thread-log";
import { viewThread } from "@reeve/run/thread/read-thread";
import { noSuchThread } from "@reeve/run/thread/refusals";
import { threadRow } from "@reeve/run/thread/thread-row";
import type { GatewayPorts } from "../gateway-ports.ts";

/** Reads the current state of a thread. Throws a Failure of kind `not_found` if it does not exist or is deleted. */
export async function getThread(
  { threads }: Pick<GatewayPorts, "threads">,
  key: ThreadKey,
  signal: AbortSignal,
): Promise<Thread> {
  const { head } = await viewThread(threads, key, signal);
  const row = threadRow(key.thread, head);
  if (row === undefined) throw noSuchThread(key.thread);
  return row;
}
