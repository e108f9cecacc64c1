import { retryUnavailable } from "@reeve/platform/async/retry/retry-unavailable";
import { Failure } from "@reeve/platform/failure";
import type { LiveSource } from "./live-batches.ts";
import { LiveBatches } from "./live-batches.ts";
import type { PendingSource } from "./pending-batches.ts";
import { PendingBatches } from "./pending-batches.ts";
import type { EventRange, Tail } from "../port.ts";
import { emptyTail } from "../port.ts";
import { rangeAfter } from "./range-after.ts";

/** What `followSubject` needs of a log. */
export interface FollowSource<Event> extends PendingSource<Event>, LiveSource {
  /** Whether batches expire, so that a log may be empty although nobody removed it. */
  readonly expires: boolean;
}

/** The batches that a listener has received, and the end of the log at some time since it listens. */
interface ListenedStart {
  readonly live: LiveBatches;
  readonly after: Tail;
}

/** How long a follower retries while the store is unavailable. */
const maxRetryMs = 120_000;

/**
 * Yields the committed events after `afterSequence`, each once and in order: first what is stored, then what the stream
 * republishes, as long as that continues without a gap. After a gap, a lag of the reader, a quiet time, or a lost connection,
 * reads from the store. Ends when the log is removed.
 *
 * With `listened`, batches were received since before its tail was the end of the log, so nothing is read at the start.
 */
export async function* followSubject<Event>(
  source: FollowSource<Event>,
  afterSequence: number,
  signal: AbortSignal,
  listened?: ListenedStart,
): AsyncIterable<EventRange<Event>> {
  using live = listened?.live ?? new LiveBatches(source);
  signal.throwIfAborted();
  using _ = live.bind(signal);
  const pending = new PendingBatches(source);
  let cursor: Tail = listened?.after ?? emptyTail;
  live.skipTo(cursor);
  let isFirst = listened === undefined;
  for (;;) {
    if (pending.isEmpty && !isFirst && !live.isBehind) {
      const batches = await live.next(cursor, signal);
      cursor = live.laterOf(cursor);
      if (batches !== undefined) pending.add(cursor, batches);
    }
    if (pending.isEmpty) live.isBehind = false;
    isFirst = false;
    const decoded = pending.isEmpty ? undefined : await whileAvailable(pending.next(cursor));
    const next =
      decoded ??
      (await retryUnavailable(() => pending.next(cursor), { maxElapsedMs: maxRetryMs }, signal));
    if (next.isGone === true && !source.expires) return;
    if (!next.isComplete && pending.isEmpty) live.isBehind = true;
    if (next.tail.sequence > cursor.sequence) {
      cursor = next.tail;
      live.skipTo(cursor);
      if (cursor.sequence > afterSequence) yield rangeAfter(next, afterSequence);
    }
    signal.throwIfAborted();
  }
}

/**
 * Returns undefined when the store is unavailable. Batches that have arrived are decoded without the preparations for another attempt:
 * they are most of the work of a log with many followers, and hardly ever fail.
 */
async function whileAvailable<Result>(result: Promise<Result>): Promise<Result | undefined> {
  try {
    return await result;
  } catch (error) {
    if (error instanceof Failure && error.kind === "unavailable") return undefined;
    throw error;
  }
}
