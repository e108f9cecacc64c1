/** The end of a log, without its events. */
export interface LogEnd<Key> {
  readonly key: Key;
  /** Sequence of the last event. */
  readonly sequence: number;
  /** The kinds of the events in the last batch. */
  readonly kinds: readonly string[];
}

/** All logs of one kind. */
export interface LogCatalog<Key> {
  /**
   * Yields the end of every log that exists at the call. A log may be yielded again when it grows meanwhile. Ends when all
   * were yielded. Throws a Failure of kind `unavailable` when the store is lost, and the signal's reason.
   */
  ends(signal: AbortSignal): AsyncIterable<LogEnd<Key>>;
}

/** How many rows without a log were deleted, and how many stayed because the deletion failed. */
export interface DroppedRows {
  readonly dropped: number;
  readonly failed: number;
}

/** A table whose rows follow from logs. */
export interface ProjectedTable<Key> {
  /** Name of the bucket that holds the rows. */
  readonly name: string;
  /** Creates the bucket if it is missing. Returns what identifies it: a bucket that is created again has another identity. */
  instance(signal: AbortSignal): Promise<string>;
  /**
   * Makes the rows of a log agree with the log. Returns whether they did not. `quick` permits to skip a log whose rows can
   * hardly be wrong.
   */
  compare(end: LogEnd<Key>, mode: "thorough" | "quick", signal: AbortSignal): Promise<boolean>;
  /**
   * Deletes the rows whose log does not exist. `quick` permits to delete only rows whose deletion has begun. Absent: logs of this
   * kind are never removed.
   */
  dropOrphans?(mode: "thorough" | "quick", signal: AbortSignal): Promise<DroppedRows>;
}
