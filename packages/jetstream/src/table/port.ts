/** A stored record and its revision. */
export interface Row<Record> {
  readonly key: string;
  readonly record: Record;
  /** Changes with every write of the key. */
  readonly revision: number;
}

/**
 * Records by key, the latest version of each: small things that many read and few write. Keys are dotted tokens
 * (`acme.researcher`); the message of the records declares their template. All methods throw a Failure of kind
 * `unavailable` when the store does not answer, and `exhausted` when it is full.
 */
export interface Table<Record> {
  get(key: string, signal: AbortSignal): Promise<Row<Record> | undefined>;
  /** Writes a key that does not exist. Undefined: it exists. */
  create(key: string, record: Record, signal: AbortSignal): Promise<Row<Record> | undefined>;
  /** Replaces the version `revision`. Undefined: another version is there. */
  update(
    key: string,
    record: Record,
    revision: number,
    signal: AbortSignal,
  ): Promise<Row<Record> | undefined>;
  /** Writes whatever is there. */
  put(key: string, record: Record, signal: AbortSignal): Promise<Row<Record>>;
  delete(key: string, signal: AbortSignal): Promise<void>;
  /** Deletes the version `revision`. False: another version is there, or none. */
  deleteVersion(key: string, revision: number, signal: AbortSignal): Promise<boolean>;
  /** The rows whose key goes on after `prefix` (whole tokens: `acme` or `acme.team`, `""` for all), in order of keys. */
  list(prefix: string, signal: AbortSignal): Promise<readonly Row<Record>[]>;
  /** The revision of the last write or deletion below `prefix`; 0: there was none. */
  lastRevision(prefix: string, signal: AbortSignal): Promise<number>;
  /**
   * The rows of `prefix` as they are, then the changes as they are made; a deletion has no record. `current` marks the point
   * at which everything that was there at the start has been given, up to its revision; before it there may be deletions of keys that are long
   * gone. A watcher that lags may be given only the latest change of a key. Rejects with the reason of `signal`, or with a
   * Failure when the store is lost.
   */
  watch(prefix: string, signal: AbortSignal): AsyncIterable<Change<Record>>;
}

export type Change<Record> =
  | { readonly kind: "written"; readonly row: Row<Record> }
  | { readonly kind: "deleted"; readonly key: string; readonly revision: number }
  | { readonly kind: "current"; readonly revision: number };
