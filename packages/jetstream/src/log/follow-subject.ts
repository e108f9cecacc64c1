import type { NatsConnection } from "@nats-io/transport-node";
import { connectionStateOf } from "@reeve/platform/nats/connection-state";
import type { EventRange, Tail } from "./port.ts";
import { emptyTail } from "./port.ts";
import { patiently } from "@reeve/platform/async/patiently";
import { Signalled } from "@reeve/platform/async/signalled";
import type { StoredBatch } from "./stored-batch.ts";
import { batchFromMessage } from "./stored-batch.ts";

/** What was read at a time. */
export interface StoredRange<Event> extends EventRange<Event> {
  /** Whether it reaches to the end of what is stored. */
  readonly isComplete: boolean;
}

/** What following needs of a log. */
export interface FollowSource<Event> {
  readonly connection: NatsConnection;
  readonly liveSubject: string;
  /** How long the log may be quiet before its stored tail is looked at: a lost last message is invisible otherwise. */
  readonly tailCheckMs: number;
  /** What is stored after the sequence that is followed from, or a first part; events before it may be among it. */
  readFirst(): Promise<StoredRange<Event>>;
  read(tail: Tail): Promise<StoredRange<Event>>;
  /** The events of `batches`, which join on to each other, after `tail`. */
  rangeOf(tail: Tail, batches: readonly StoredBatch[]): EventRange<Event>;
}

/** What may wait for a slow reader. Beyond, it is dropped, and read from the store at the reader's own pace. */
const maxWaiting = 256;
const maxWaitingBytes = 4 * 1024 * 1024;
/** How long a follower waits for a store that is away. */
const patienceMs = 120_000;

/**
 * Committed events after `afterSequence`, each once and in order: what is stored, then what the stream republishes while it
 * joins on without a gap; a gap, a lagging reader, a quiet log and a lost connection are repaired from the store.
 */
export async function* followSubject<Event>(
  followed: FollowSource<Event>,
  afterSequence: number,
  signal: AbortSignal,
): AsyncIterable<EventRange<Event>> {
  signal.throwIfAborted();
  const live = new LiveBatches(followed);
  let cursor: Tail = emptyTail;
  let isFirst = true;
  try {
    for (;;) {
      let next: EventRange<Event> | undefined;
      if (isFirst || live.isBehind) {
        const read = isFirst ? () => followed.readFirst() : () => followed.read(cursor);
        isFirst = false;
        live.isBehind = false;
        const { isComplete, ...stretch } = await patiently(read, patienceMs, signal);
        if (!isComplete) live.isBehind = true;
        next = stretch;
      } else {
        const batches = await live.next(cursor, signal);
        next = batches && followed.rangeOf(cursor, batches);
      }
      if (next !== undefined && next.tail.sequence > cursor.sequence) {
        cursor = next.tail;
        live.seen(cursor);
        if (cursor.sequence > afterSequence) yield trimmed(next, afterSequence);
      }
      signal.throwIfAborted();
    }
  } finally {
    live.end();
  }
}

function trimmed<Event>(
  { events, tail }: EventRange<Event>,
  afterSequence: number,
): EventRange<Event> {
  const before = tail.sequence - events.length;
  return { events: events.slice(Math.max(0, afterSequence - before)), tail };
}

/** The batches that the stream republishes, in a bounded queue. */
class LiveBatches {
  /** Whether the store has, or may have, what does not come through here. */
  isBehind = false;
  readonly #quietMs: number;
  readonly #arrived = new Signalled();
  readonly #ends: readonly (() => void)[];
  #waiting: StoredBatch[] = [];
  #bytes = 0;
  #seen = 0;

  constructor({
    connection,
    liveSubject,
    tailCheckMs,
  }: Pick<FollowSource<unknown>, "connection" | "liveSubject" | "tailCheckMs">) {
    this.#quietMs = tailCheckMs;
    const subscription = connection.subscribe(liveSubject, {
      callback: (error, message) => {
        const batch = error === null ? batchFromMessage(message) : undefined;
        if (batch !== undefined && batch.last > this.#seen) this.#keep(batch);
      },
    });
    const forget = connectionStateOf(connection).onChange(() => this.#fallBehind());
    this.#ends = [() => subscription.unsubscribe(), forget];
  }

  end(): void {
    for (const end of this.#ends) end();
  }

  /** Says that everything up to `tail` is known. */
  seen({ sequence }: Tail): void {
    this.#seen = sequence;
  }

  /**
   * The batches that follow `cursor`; undefined when the store has to be read. What arrived meanwhile leaves at once: a
   * reader that is slower gets more at a time.
   */
  async next({ sequence }: Tail, signal: AbortSignal): Promise<readonly StoredBatch[] | undefined> {
    while (!this.isBehind) {
      const batches = this.#waiting.filter(({ last }) => last > sequence);
      this.#clear();
      if (batches.length > 0) {
        if (joinOn(sequence, batches)) return batches;
        this.isBehind = true;
      } else if (!(await this.#arrived.wait(this.#quietMs * (1 + Math.random() / 4), signal))) {
        this.isBehind = true;
      }
    }
    return undefined;
  }

  #keep(batch: StoredBatch): void {
    this.#bytes += batch.data.length;
    if (this.#waiting.push(batch) > maxWaiting || this.#bytes > maxWaitingBytes) {
      this.#fallBehind();
    }
    this.#arrived.say();
  }

  #fallBehind(): void {
    this.#clear();
    this.isBehind = true;
    this.#arrived.say();
  }

  #clear(): void {
    this.#waiting = [];
    this.#bytes = 0;
  }
}

function joinOn(sequence: number, batches: readonly StoredBatch[]): boolean {
  let reached = sequence;
  return batches.every(({ first, last }) => {
    const joins = first <= reached + 1;
    reached = last;
    return joins;
  });
}
