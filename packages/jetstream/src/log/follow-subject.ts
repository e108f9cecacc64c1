import type { NatsConnection } from "@nats-io/transport-node";
import { Wakeup } from "@reeve/platform/async/coordination/wakeup";
import { retryUnavailable } from "@reeve/platform/async/retry/retry-unavailable";
import { connectionStateOf } from "@reeve/platform/nats/connection-state";
import type { PendingSource } from "./pending-batches.ts";
import { PendingBatches } from "./pending-batches.ts";
import type { EventRange, Tail } from "./port.ts";
import { emptyTail } from "./port.ts";
import type { StoredBatch } from "./stored-batch.ts";
import { batchFromMessage } from "./stored-batch.ts";

/** What `followSubject` needs of a log. */
interface FollowSource<Event> extends PendingSource<Event> {
  readonly connection: NatsConnection;
  readonly liveSubject: string;
  /** After how much quiet time to compare with the stored tail: a lost last message is invisible otherwise. */
  readonly tailCheckMs: number;
  /** Whether batches expire, so that a log may be empty although nobody removed it. */
  readonly expires: boolean;
}

/** How much may wait for a slow reader. More is dropped, and read from the store at the reader's own pace. */
const maxWaitingBatches = 256;
const maxWaitingBytes = 256 * 1024;
/** How long a follower retries while the store is unavailable. */
const maxRetryMs = 120_000;

/**
 * Yields the committed events after `afterSequence`, each once and in order: first what is stored, then what the stream
 * republishes, as long as that continues without a gap. After a gap, a lag of the reader, a quiet time, or a lost connection,
 * reads from the store. Ends when the log is removed.
 */
export async function* followSubject<Event>(
  source: FollowSource<Event>,
  afterSequence: number,
  signal: AbortSignal,
): AsyncIterable<EventRange<Event>> {
  signal.throwIfAborted();
  using live = new LiveBatches(source);
  const pending = new PendingBatches(source);
  let cursor: Tail = emptyTail;
  let isFirst = true;
  for (;;) {
    if (pending.isEmpty && !isFirst && !live.isBehind) {
      const batches = await live.next(cursor, signal);
      if (batches !== undefined) pending.add(cursor, batches);
    }
    if (pending.isEmpty) live.isBehind = false;
    isFirst = false;
    const next = await retryUnavailable(
      () => pending.next(cursor),
      { maxElapsedMs: maxRetryMs },
      signal,
    );
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

function rangeAfter<Event>(
  { events, tail, batchTails }: EventRange<Event>,
  afterSequence: number,
): EventRange<Event> {
  const before = tail.sequence - events.length;
  return {
    events: events.slice(Math.max(0, afterSequence - before)),
    tail,
    batchTails: batchTails.filter(({ sequence }) => sequence > afterSequence),
  };
}

/** The batches that the stream republishes, in a bounded queue. */
class LiveBatches implements Disposable {
  /** Whether the store has, or may have, batches that do not arrive here. */
  isBehind = false;
  readonly #tailCheckMs: number;
  readonly #arrived = new Wakeup();
  readonly #resources = new DisposableStack();
  #waiting: StoredBatch[] = [];
  #bytes = 0;
  #knownSequence = 0;

  constructor({
    connection,
    liveSubject,
    tailCheckMs,
  }: Pick<FollowSource<unknown>, "connection" | "liveSubject" | "tailCheckMs">) {
    this.#tailCheckMs = tailCheckMs;
    const subscription = connection.subscribe(liveSubject, {
      callback: (error, message) => {
        const batch = error === null ? batchFromMessage(message) : undefined;
        if (batch !== undefined && batch.last > this.#knownSequence) this.#add(batch);
      },
    });
    this.#resources.defer(() => subscription.unsubscribe());
    this.#resources.defer(connectionStateOf(connection).onChange(() => this.#fallBehind()));
  }

  [Symbol.dispose](): void {
    this.#resources.dispose();
  }

  /** Ignores batches up to `tail` from now on. */
  skipTo({ sequence }: Tail): void {
    this.#knownSequence = sequence;
  }

  /**
   * Waits for batches that follow `cursor`. Returns undefined when the store has to be read instead. Returns all that arrived
   * meanwhile: a slower reader gets more at a time.
   */
  async next({ sequence }: Tail, signal: AbortSignal): Promise<readonly StoredBatch[] | undefined> {
    while (!this.isBehind) {
      const batches = this.#waiting.filter(({ last }) => last > sequence);
      this.#clear();
      if (batches.length > 0) {
        if (areConsecutive(sequence, batches)) return batches;
        this.isBehind = true;
      } else {
        // With jitter, so that followers do not all read the tail at the same moment.
        const quietMs = this.#tailCheckMs * (1 + Math.random() / 4);
        if (!(await this.#arrived.waitFor(quietMs, signal))) this.isBehind = true;
      }
    }
    return undefined;
  }

  #add(batch: StoredBatch): void {
    this.#bytes += batch.data.length;
    const length = this.#waiting.push(batch);
    // One waits whatever its size, so that a reader that keeps up gets it from here.
    if (length > maxWaitingBatches || (length > 1 && this.#bytes > maxWaitingBytes)) {
      this.#fallBehind();
    }
    this.#arrived.notify();
  }

  #fallBehind(): void {
    this.#clear();
    this.isBehind = true;
    this.#arrived.notify();
  }

  #clear(): void {
    this.#waiting = [];
    this.#bytes = 0;
  }
}

function areConsecutive(sequence: number, batches: readonly StoredBatch[]): boolean {
  let reached = sequence;
  return batches.every(({ first, last }) => {
    const continues = first <= reached + 1;
    reached = last;
    return continues;
  });
}
