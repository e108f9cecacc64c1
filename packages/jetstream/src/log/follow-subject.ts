import type { NatsConnection } from "@nats-io/transport-node";
import { Wakeup } from "@reeve/platform/async/coordination/wakeup";
import { retryUnavailable } from "@reeve/platform/async/retry/retry-unavailable";
import { connectionStateOf } from "@reeve/platform/nats/connection-state";
import type { EventRange, LogPart, Tail } from "./port.ts";
import { emptyTail } from "./port.ts";
import type { StoredBatch } from "./stored-batch.ts";
import { batchFromMessage } from "./stored-batch.ts";

/** What `followSubject` needs of a log. */
interface FollowSource<Event> {
  readonly connection: NatsConnection;
  readonly liveSubject: string;
  /** After how much quiet time to compare with the stored tail: a lost last message is invisible otherwise. */
  readonly tailCheckMs: number;
  /** Whether batches expire, so that a log may be empty although nobody removed it. */
  readonly expires: boolean;
  /** Reads what is stored after the sequence to follow from, or a first part of it. It may include events before that. */
  readFirst(): Promise<LogPart<Event>>;
  read(tail: Tail): Promise<LogPart<Event>>;
  /** Returns the events of consecutive batches that come after `tail`. */
  rangeOf(tail: Tail, batches: readonly StoredBatch[]): Promise<EventRange<Event>>;
}

/** How much may wait for a slow reader. More is dropped, and read from the store at the reader's own pace. */
const maxWaitingBatches = 256;
const maxWaitingBytes = 4 * 1024 * 1024;
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
  let cursor: Tail = emptyTail;
  let isFirst = true;
  for (;;) {
    let next: EventRange<Event> | undefined;
    if (isFirst || live.isBehind) {
      const read = isFirst ? () => source.readFirst() : () => source.read(cursor);
      isFirst = false;
      live.isBehind = false;
      const stored = await retryUnavailable(read, { maxElapsedMs: maxRetryMs }, signal);
      const { isComplete, isGone = false, ...range } = stored;
      if (isGone && !source.expires) return;
      if (!isComplete) live.isBehind = true;
      next = range;
    } else {
      const batches = await live.next(cursor, signal);
      next = batches && (await source.rangeOf(cursor, batches));
    }
    if (next !== undefined && next.tail.sequence > cursor.sequence) {
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
    if (this.#waiting.push(batch) > maxWaitingBatches || this.#bytes > maxWaitingBytes) {
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
