import type { Notifier } from "@reeve/platform/async/coordination/notifier";
import type { Feed } from "../port.ts";

/** Which shards of a store this process reads now. */
export interface ReadingTurns {
  reads(shard: number): boolean;
  /** Notifies when the answers may have changed. */
  readonly changed: Pick<Notifier, "subscribe">;
}

const over = new DOMException("another process reads the feed", "AbortError");

/**
 * Returns a feed that is read only while this process has its turn. The next process continues from the position that this one has stored,
 * and may repeat what came within the last second.
 */
export function inTurn<Key, Event>(
  feed: Feed<Key, Event>,
  shard: number,
  turns: ReadingTurns,
): Feed<Key, Event> {
  /** Resolves when `reads` answers so. Rejects with the signal's reason. */
  const until = async (isTurn: boolean, signal: AbortSignal) => {
    using changes = turns.changed.subscribe();
    while (turns.reads(shard) !== isTurn) await changes.wait(signal);
  };
  return {
    async *consume(consumer, kinds, signal) {
      for (;;) {
        signal.throwIfAborted();
        await until(true, signal);
        const end = new AbortController();
        const reading = AbortSignal.any([signal, end.signal]);
        until(false, reading).then(
          () => end.abort(over),
          () => undefined,
        );
        try {
          yield* feed.consume(consumer, kinds, reading);
        } catch (error) {
          signal.throwIfAborted();
          if (!end.signal.aborted) throw error;
        } finally {
          end.abort(over);
        }
      }
    },
  };
}
