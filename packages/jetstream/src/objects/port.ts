/** What is known of a stored object. */
export interface StoredObject {
  readonly name: string;
  readonly sizeBytes: number;
  readonly storedAt: Date;
}

/**
 * Bytes by name, each name written once. Methods throw a Failure of kind `unavailable` when the store does not answer, and
 * `exhausted` when it is full.
 */
export interface Objects {
  /** Stores all of `content` under a new name and gives its size; whatever `content` throws is thrown, and nothing stays. */
  write(name: string, content: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<number>;
  /** The bytes, in chunks. Undefined: nothing whole is stored under the name. */
  read(name: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** Takes an object away. One that is not there is no mistake. */
  remove(name: string, signal: AbortSignal): Promise<void>;
  list(signal: AbortSignal): Promise<readonly StoredObject[]>;
  /** Takes away what writers have left that died more than `olderThanMs` ago, before all was written. */
  cleanUp(olderThanMs: number, signal: AbortSignal): Promise<void>;
}
