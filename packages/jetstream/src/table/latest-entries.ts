import type { KvEntry } from "@nats-io/kv";
import { IdleTimeout } from "@reeve/platform/async/idle-timeout";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import { CatchUp } from "./catch-up.ts";

/** How long nothing may arrive before a read fails. Nothing more arrives when what is awaited has expired. */
const idleTimeoutMs = 2_000;

/** An entry of a watch. */
export type WatchedEntry = Pick<KvEntry, "key" | "revision" | "delta">;

/** The keys to read. */
export interface WatchedKeys<Entry extends WatchedEntry> {
  /** Returns the revision of the last entry, including deletions, or undefined if there is none. Asks the leader. */
  lastRevision(): Promise<number | undefined>;
  /** Yields the latest entry of every key, then each new one, until `signal` aborts. */
  entries(signal: AbortSignal): AsyncIterable<Entry>;
}

/**
 * Returns the latest entry of every key, deletions included. Contains everything that was written before the call. Throws a
 * Failure of kind `unavailable` when nothing arrives for two seconds.
 */
export async function readLatestEntries<Entry extends WatchedEntry>(
  keys: WatchedKeys<Entry>,
  signal: AbortSignal,
): Promise<readonly Entry[]> {
  const end = await keys.lastRevision();
  // A watch of no keys yields nothing at all, so its end would look like a slow start.
  if (end === undefined) return [];
  const catchUp = new CatchUp(end, async () => (await keys.lastRevision()) ?? 0);
  const latest = new Map<string, Entry>();
  const options = { timeoutMs: idleTimeoutMs, reason: () => storeUnavailable() };
  using idle = new IdleTimeout(options, signal);
  for await (const entry of keys.entries(idle.signal)) {
    latest.set(entry.key, entry);
    if (await catchUp.isDoneWith(entry)) break;
    idle.restart();
  }
  return [...latest.values()];
}
