/** A committed batch of a log that has at least one event of the kinds that were asked for. */
export interface FeedBatch<Key, Event> {
  readonly key: Key;
  /** The whole batch. */
  readonly events: readonly Event[];
  /** Says that the batch needs not be delivered again. */
  acknowledge(): void;
}

/** What happens in all logs of one sort, for projections. */
export interface Feed<Key, Event, Kind extends string> {
  /**
   * The batches since the beginning of the store that have an event of `kinds`, each at least once, and first in the order
   * of their commits; what is not acknowledged comes again, and then after later ones. `consumer` names the reader: its
   * place outlives the process, and several processes of one name share the work. Ends by throwing the signal's reason.
   */
  consume(
    consumer: string,
    kinds: ReadonlySet<Kind>,
    signal: AbortSignal,
  ): AsyncIterable<FeedBatch<Key, Event>>;
}
