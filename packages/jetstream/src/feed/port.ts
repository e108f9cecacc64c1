/** A committed batch of a log that has at least one event of the requested kinds. */
export interface FeedBatch<Key, Event> {
  readonly key: Key;
  /** All events of the batch, of any kind. */
  readonly events: readonly Event[];
  /** Reports that the batch does not have to be delivered again. After the reader has ended, it may have no effect. */
  acknowledge(): void;
}

/** Says which kinds of events a reader needs. `unknown` stands for a kind without a name. */
export interface KindFilter {
  has(kind: string): boolean;
}

/** The batches of all logs of one kind, for projections. */
export interface Feed<Key, Event> {
  /**
   * Yields the batches since the beginning of the store that have an event of `kinds`, each at least once, and at first in the
   * order of their commits, in a store with
   * shards among those of the same shard. Batches that are not acknowledged are delivered again, then after later ones. One that cannot be read
   * now, because its tenant's key is not available or because it was altered, is yielded after others, when it can be, and one whose
   * key was deleted never. `consumer` names the
   * reader: its position outlives the process. Several processes with the same name share the work, or each gets every batch: the function
   * that opens a feed says which. Ends by throwing the signal's reason.
   */
  consume(
    consumer: string,
    kinds: KindFilter,
    signal: AbortSignal,
  ): AsyncIterable<FeedBatch<Key, Event>>;
}
