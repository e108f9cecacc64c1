import type { NatsConnection } from "@nats-io/transport-node";
import type { Stretch, Tail } from "./log.ts";
import { emptyTail } from "./log.ts";
import { Signalled } from "./signalled.ts";
import type { StoredBatch } from "./stored-batch.ts";
import { liveBatch } from "./stored-batch.ts";

/** What following needs of a log. */
export interface Followed<Event> {
  readonly connection: NatsConnection;
  readonly liveSubject: string;
  last(): Promise<StoredBatch | undefined>;
  stretch(tail: Tail, batch: StoredBatch): Stretch<Event>;
  read(tail: Tail): Promise<Stretch<Event>>;
}

/** How long a log may be quiet before its stored tail is looked at: a lost last message is invisible otherwise. */
const quietMs = 3_000;
/** Batches that wait for a slow reader. Beyond, they are dropped and read from the store at the reader's own pace. */
const mostWaiting = 256;

/**
 * Committed events after `afterSequence`, each once and in order: what is stored, then what the stream republishes while it
 * joins on without a gap; a gap, a lagging reader and a quiet log are repaired from the store.
 */
export async function* followSubject<Event>(
  followed: Followed<Event>,
  afterSequence: number,
  signal: AbortSignal,
): AsyncIterable<Stretch<Event>> {
  signal.throwIfAborted();
  const waiting: StoredBatch[] = [];
  const arrived = new Signalled();
  let cursor: Tail = emptyTail;
  const live = followed.connection.subscribe(followed.liveSubject, {
    callback: (error, message) => {
      const batch = error === null ? liveBatch(message) : undefined;
      if (batch === undefined || batch.last <= cursor.sequence) return;
      if (waiting.length < mostWaiting) waiting.push(batch);
      arrived.say();
    },
  });
  const trimmed = ({ events, tail }: Stretch<Event>): Stretch<Event> => {
    const from = tail.sequence - events.length;
    return { events: events.slice(Math.max(0, afterSequence - from)), tail };
  };
  try {
    let isBehind = true;
    for (;;) {
      if (isBehind) {
        const missed = await followed.read(cursor);
        isBehind = false;
        if (missed.tail.sequence > cursor.sequence) {
          cursor = missed.tail;
          if (cursor.sequence > afterSequence) yield trimmed(missed);
        }
      }
      const batch = waiting.shift();
      if (batch === undefined) {
        isBehind = await quiet(followed, arrived, cursor, signal);
      } else if (batch.last > cursor.sequence) {
        if (batch.first > cursor.sequence + 1) isBehind = true;
        else {
          const next = followed.stretch(cursor, batch);
          cursor = next.tail;
          if (cursor.sequence > afterSequence) yield trimmed(next);
        }
      }
      signal.throwIfAborted();
    }
  } finally {
    live.unsubscribe();
  }
}

/** Waits for something to arrive. Whether the store has more than was seen, when nothing did for a while. */
async function quiet<Event>(
  { last }: Followed<Event>,
  arrived: Signalled,
  cursor: Tail,
  signal: AbortSignal,
): Promise<boolean> {
  const startedAt = performance.now();
  await arrived.wait(quietMs * (1 + Math.random() / 4), signal);
  if (performance.now() - startedAt < quietMs) return false;
  // A store that does not answer now is asked again after the next quiet while.
  const stored = await last().catch(() => undefined);
  return stored !== undefined && stored.last > cursor.sequence;
}
