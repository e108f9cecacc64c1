import type { Failure } from "@reeve/platform/failure";

/** A stored record and its revision. */
export interface Row<Record> {
  readonly key: string;
  readonly record: Record;
  /** Changes with every write of the key. */
  readonly revision: number;
}

/**
 * Records by key, of which the latest version counts: small records with many readers and few writers. Keys are dotted tokens
 * (`acme.researcher`), by the template that the message of the records declares. All methods throw a Failure of kind
 * `unavailable` when the store does not answer, and `exhausted` when it is full.
 */
export interface Table<Record> {
  get(key: string, signal: AbortSignal): Promise<Row<Record> | undefined>;
  /** Writes a key that does not exist. Returns undefined when it exists. */
  create(key: string, record: Record, signal: AbortSignal): Promise<Row<Record> | undefined>;
  /** Writes a key that was never written. Returns undefined when it exists or has existed. */
  createFirst(key: string, record: Record, signal: AbortSignal): Promise<Row<Record> | undefined>;
  /** Replaces the version `revision`. Returns undefined when the table holds another version. */
  update(
    key: string,
    record: Record,
    revision: number,
    signal: AbortSignal,
  ): Promise<Row<Record> | undefined>;
  /** Writes a key, whether or not it exists. */
  put(key: string, record: Record, signal: AbortSignal): Promise<Row<Record>>;
  /** Deletes a key. A missing key is not an error. */
  delete(key: string, signal: AbortSignal): Promise<void>;
  /** Deletes the version `revision`. Returns false when the table holds another version, or none. */
  deleteVersion(key: string, revision: number, signal: AbortSignal): Promise<boolean>;
  /**
   * Returns the rows whose keys continue after `prefix` (whole tokens: `acme` or `acme.team`; `""` for all), ordered by key. Throws
   * a Failure if one of them cannot be read; only a list of all leaves such rows out, so it does not prove that a row is missing.
   */
  list(prefix: string, signal: AbortSignal): Promise<readonly Row<Record>[]>;
  /**
   * Yields the rows below `prefix`, then each change. A deletion has no record. The change `current` marks the point at which
   * everything that existed at the start was yielded, up to its revision; before it there may be deletions of keys that do not
   * exist any more. A watcher that lags may get only the latest change of a key. Rejects with the signal's reason, with a
   * Failure when the store is lost, and, unless `prefix` is empty, with that of a row that cannot be read.
   */
  watch(prefix: string, signal: AbortSignal): AsyncIterable<Change<Record>>;
  /** Returns the place of the last change. What was written before the call is not after it. */
  position(signal: AbortSignal): Promise<TablePosition>;
  /**
   * Yields everything that changed after a position, in the order of revisions, then each new change, in batches of at most
   * `maxBatchedChanges`. Of several changes of a key, only the latest may be yielded. Holds no more than the reader can process.
   * Rejects with the signal's reason, or with a Failure of kind `unavailable` when the store is lost, or is not that `instance`.
   */
  changesAfter(position: ReadPosition, signal: AbortSignal): AsyncIterable<ChangeBatch<Record>>;
}

/** The earlier versions of the records of a table whose message declares a history. */
export interface TableHistory<Record> {
  /**
   * Yields the versions of a key since it was last created, newest first, as far as the store keeps them. Has everything that was
   * written before the call; nothing if the key does not exist. Each is decoded when it is asked for. An older version that cannot
   * be read is `unreadable`; if the newest cannot be read, rejects with its Failure. Holds all stored versions until it ends.
   * `before` is a revision: only older versions.
   */
  versions(
    key: string,
    range: { readonly before?: number | undefined },
    signal: AbortSignal,
  ): AsyncIterable<Version<Record>>;
}

/** A version of a key, or one that exists and cannot be read. */
export type Version<Record> =
  | { readonly kind: "written"; readonly row: Row<Record> }
  | UnreadableRow;

/** A place in the history of a table. */
export interface TablePosition {
  /** Identifies the table: one that was deleted and created again has another identity. */
  readonly instance: string;
  /** The revision of the last change; 0 if there was none. */
  readonly revision: number;
}

/** A place that a reader has reached. */
export interface ReadPosition extends TablePosition {
  /** The rows up to there that it could not read. They are read again as those of later changes are. Default: none. */
  readonly unreadable?: readonly UnreadableRow[];
}

/** How many changes one batch has at most, so that a reader applies it at once without delaying others. */
export const maxBatchedChanges = 100;

/** Consecutive changes. */
export interface ChangeBatch<Record> {
  readonly changes: readonly KeyedChange<Record>[];
  /** The reader has every change up to this revision. */
  readonly revision: number;
}

/**
 * A change of one key. An unreadable row was written and cannot be read now, because its tenant's key is not available, or because
 * it was altered. It is read again from time to time: `written` or `deleted` follows when it can be. What a reader knows of the key is
 * outdated until then, and it continues with the rows of other tenants.
 */
export type KeyedChange<Record> =
  | { readonly kind: "written"; readonly row: Row<Record> }
  | { readonly kind: "deleted"; readonly key: string; readonly revision: number }
  | UnreadableRow;

/** A row that exists and cannot be read now. */
export interface UnreadableRow {
  readonly kind: "unreadable";
  readonly key: string;
  readonly revision: number;
  readonly error: Failure;
}

export type Change<Record> =
  | KeyedChange<Record>
  | { readonly kind: "current"; readonly revision: number };
