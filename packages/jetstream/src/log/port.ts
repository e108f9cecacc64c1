/**
 * The end of a log as its reader saw it. An append names the tail that it follows; `revision` is the adapter's own and
 * means nothing to anybody else.
 */
export interface Tail {
  /** Sequence of the last event; 0 for an empty log. */
  readonly sequence: number;
  readonly revision: number;
}

/** The tail of a log in which nothing has been written yet. */
export const emptyTail: Tail = { sequence: 0, revision: 0 };

/** Consecutive events, and the tail after the last of them. */
export interface EventRange<Event> {
  readonly events: readonly Event[];
  readonly tail: Tail;
}

/** What became of an append: it stands, or somebody else wrote first. */
export type AppendOutcome =
  { readonly kind: "appended"; readonly tail: Tail } | { readonly kind: "conflict" };

/**
 * Append-only logs, one per key, whose events carry a sequence that is dense from 1. One append is one batch: all of it
 * is written, right after `tail`, or nothing is. Whoever appends first wins; the loser reads what it missed and decides
 * again. There is no other lock.
 */
export interface Log<Key, Event> {
  /**
   * Appends `events` (at least one, sequences assigned by the caller: `tail.sequence + 1` on) right after `tail`. An
   * acknowledgement that was lost is resolved by looking at the log: the answer is always the truth. Throws a Failure of
   * kind `unavailable` when the truth cannot be had, `exhausted` when the store is full or the batch is too large.
   */
  append(key: Key, tail: Tail, events: readonly Event[], signal: AbortSignal): Promise<AppendOutcome>;

  /** Everything after `tail`. For a log that does not exist: no events and the empty tail. */
  read(key: Key, tail: Tail, signal: AbortSignal): Promise<EventRange<Event>>;

  /**
   * Everything after a sequence, or after a tail that was read, each event once and in order: what is stored, then what is appended, until `signal`
   * aborts (the iteration then ends by throwing its reason) or the consumer stops. Committed events only. Gaps are
   * repaired from the store, and a quiet log is compared with its stored tail every few seconds.
   */
  follow(key: Key, after: number | Tail, signal: AbortSignal): AsyncIterable<EventRange<Event>>;
}

/** Logs whose end can be looked at without all that comes before it. */
export interface TailReader<Key, Event> {
  /** The events of the last batch, and the tail. For a log that does not exist: no events and the empty tail. */
  last(key: Key, signal: AbortSignal): Promise<EventRange<Event>>;
}
