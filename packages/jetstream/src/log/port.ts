/**
 * The end of a log as a reader saw it. An append names the tail that it follows. `revision` belongs to the adapter and means
 * nothing to callers.
 */
export interface Tail {
  /** The sequence of the last event; 0 for an empty log. */
  readonly sequence: number;
  readonly revision: number;
  /**
   * The digest of the last batch, which covers all batches before it (`RunBatch.previous_digest`). Empty for an empty log, and
   * for a position that was not read from the log. An append after such a position starts a new chain.
   */
  readonly digest: string;
}

/** The tail of a log that has no events. */
export const emptyTail: Tail = { sequence: 0, revision: 0, digest: "" };

/** Returns the position after a sequence of which nothing else is known. A log can be read from there, but not appended to. */
export function tailAt(sequence: number): Tail {
  return { ...emptyTail, sequence };
}

/** Consecutive events, and the tail after the last of them. */
export interface EventRange<Event> {
  readonly events: readonly Event[];
  readonly tail: Tail;
  /** The tail after each batch that the events belong to, oldest first. */
  readonly batchTails: readonly Tail[];
  /** How many bytes the events have in the store, or more. Undefined: not known. */
  readonly bytes?: number;
}

/** The result of an append: the events are stored, or another writer was first and nothing was written. */
export type AppendOutcome =
  | { readonly kind: "appended"; readonly tail: Tail }
  | { readonly kind: "conflict" };

/** About how large the ranges are that a follower yields, as stored: it holds them for a reader that may read nothing. */
export const maxFollowedBytes = 64 * 1024;

/**
 * Append-only logs, one per key. Their events carry sequences that start at 1 and have no gaps. One append is one batch: either
 * all of it is written, directly after `tail`, or nothing is. The first writer wins; the others read what they missed and
 * decide again. There is no other lock.
 */
export interface Log<Key, Event> {
  /**
   * Appends `events` directly after `tail`: at least one event, with sequences assigned by the caller from `tail.sequence + 1`.
   * When an acknowledgement is lost, reads the log to find out, so the outcome is always the truth. Throws a Failure of kind
   * `unavailable` when the outcome cannot be found out, and `exhausted` when the store is full or the batch is too large.
   */
  append(
    key: Key,
    tail: Tail,
    events: readonly Event[],
    signal: AbortSignal,
  ): Promise<AppendOutcome>;

  /**
   * Reads all events after `tail`. For a log that does not exist, returns no events and the empty tail. What the result lacks was
   * not appended before the call, so a caller may decide on absence. Throws a Failure of kind `unavailable` when the store
   * cannot answer that.
   */
  read(key: Key, tail: Tail, signal: AbortSignal): Promise<EventRange<Event>>;

  /**
   * Returns a whole log that is in memory, because all of it was appended in this process. It may lack what was appended last. Undefined:
   * it is not in memory. Optional: a log without it is read.
   */
  readHeld?(key: Key, signal: AbortSignal): Promise<EventRange<Event> | undefined>;

  /**
   * Yields all events after a sequence, or after a tail that was read, each once and in order: first what is stored, then what
   * is appended. Yields committed events only, perhaps some time after their commit: whole batches of about `maxFollowedBytes`
   * at a time, and at least one. Repairs gaps from the store, and compares a quiet log with its stored tail every
   * few seconds. Ends when the consumer stops, when a log of which it has yielded events is removed, or by throwing the
   * signal's reason. Does not end when the batches of a log expire.
   */
  follow(key: Key, after: number | Tail, signal: AbortSignal): AsyncIterable<EventRange<Event>>;

  /**
   * Receives what is appended to a log from now on, for a follower that starts later: it needs no read to learn what came
   * between. Optional: `listenTo` of a log without it returns a listener that reads.
   */
  listen?(key: Key): LogListener<Event>;
}

/** Receives what is appended to a log. Disposing it ends that; so does the end of `follow`. */
export interface LogListener<Event> extends Disposable {
  /**
   * Follows the log as `Log.follow` does, once. `after` is the end of the log at some time since the listener was created: the
   * tail of an append or of a complete read that began after that. Anything older may be followed by a gap that is noticed
   * only when the log is compared with its stored tail.
   */
  follow(after: Tail, signal: AbortSignal): AsyncIterable<EventRange<Event>>;

  /**
   * Takes note that the reader has everything up to `tail`, which `follow` then need not yield: a writer that follows its log has
   * what it appended. Call it first before any of these appends. Optional: a listener without it yields everything.
   */
  skip?(tail: Tail): void;
}

/** Reads the end of a log without the events before it. */
export interface TailReader<Key, Event> {
  /**
   * Returns the events of the last batch, and the tail. For a log that does not exist: no events and the empty tail. As with
   * `read`, no append before the call is missing.
   */
  last(key: Key, signal: AbortSignal): Promise<EventRange<Event>>;
}

/** The first events of a longer range. */
export interface LogPart<Event> extends EventRange<Event> {
  /** Whether it reaches the end of the log. */
  readonly isComplete: boolean;
  /** Whether nothing is stored, although the reader has read something before. */
  readonly isGone?: boolean;
}

/** Reads long logs in parts. */
export interface PartReader<Key, Event> {
  /**
   * Reads the first events after `tail`: whole batches, of about `maxBytes` and at least one if there is one. As with `read`, no
   * append before the call is missing from a complete part.
   */
  readPart(key: Key, tail: Tail, maxBytes: number, signal: AbortSignal): Promise<LogPart<Event>>;
}

/** Tells a log that does not exist from one that the answering server does not know. */
export interface SettledLog<Key = never> {
  /** Whether several servers keep the logs. With one server, every read sees every append. */
  readonly isReplicated: boolean;
  /**
   * Waits until reads see every append that was acknowledged before the call. Without it, a server that was cut off from the
   * others may answer for a moment that a log does not exist. Throws a Failure of kind `unavailable` when the store does not
   * confirm it. With `key`, reads of that log see it; others may not.
   */
  settle(signal: AbortSignal, key?: Key): Promise<void>;
}

/** Removes logs. */
export interface LogRemover<Key> {
  /**
   * Removes all events of a log. The caller knows that nobody appends to it. A log that does not exist is not an error. Needs no
   * room in the store.
   */
  remove(key: Key, signal: AbortSignal): Promise<void>;
  /** As `remove`, for the log that has a batch at `revision`, or had one. A log that was created since with the same key stays. */
  removeThrough(key: Key, revision: number, signal: AbortSignal): Promise<void>;
}

/** A batch as its log stores it. All fields but `data` are its headers, which may contradict it if the log was altered. */
export interface RawBatch {
  /** Increases with each batch of a log. */
  readonly revision: number;
  readonly first: number;
  readonly last: number;
  /** The kinds of its events, without repetitions. */
  readonly kinds: readonly string[];
  /** The digest that was stored with the batch; empty for a batch of a version that wrote none. */
  readonly digest: string;
  readonly data: Uint8Array;
}

/** Reads logs as they are stored, without relying on what their batches say. */
export interface BatchReader<Key> {
  /** Yields the batches of a log, oldest first, up to its end at the time of the call. */
  readBatches(key: Key, signal: AbortSignal): AsyncIterable<RawBatch>;
}
