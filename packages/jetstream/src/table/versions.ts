import type { KV, KvEntry } from "@nats-io/kv";
import { KvWatchInclude } from "@nats-io/kv";
import { IdleTimeout } from "@reeve/platform/async/idle-timeout";
import { onAbort } from "@reeve/platform/async/on-abort";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import { callStore } from "../streams/call-store.ts";

/** How long nothing may arrive before a read fails. */
const idleTimeoutMs = 2_000;

/**
 * Returns what was written to a key since its last deletion, oldest first. Throws a Failure of kind `unavailable` when nothing
 * arrives for two seconds.
 */
export async function readVersions(
  bucket: KV,
  key: string,
  signal: AbortSignal,
): Promise<readonly KvEntry[]> {
  signal.throwIfAborted();
  // Asks the leader, so that the history that is read ends with what was written before the call.
  const last = await callStore(() => bucket.get(key));
  if (last === null || last.operation !== "PUT") return [];
  const options = { timeoutMs: idleTimeoutMs, reason: () => storeUnavailable() };
  using idle = new IdleTimeout(options, signal);
  const include = KvWatchInclude.AllHistory;
  const entries = await callStore(() => bucket.watch({ key, include }));
  using _ = onAbort(idle.signal, () => entries.stop());
  let versions: KvEntry[] = [];
  try {
    for await (const entry of entries) {
      versions = entry.operation === "PUT" ? [...versions, entry] : [];
      if (entry.revision >= last.revision) return versions;
      idle.restart();
    }
  } finally {
    entries.stop();
  }
  idle.signal.throwIfAborted();
  throw storeUnavailable();
}
