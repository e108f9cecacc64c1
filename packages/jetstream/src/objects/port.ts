/** The description of a stored object. */
export interface StoredObject {
  readonly name: string;
  readonly sizeBytes: number;
  readonly storedAt: Date;
}

/**
 * Stores bytes by name. Each name is written once. Methods throw a Failure of kind `unavailable` when the store does not answer,
 * and `exhausted` when it is full.
 */
export interface Objects {
  /**
   * Stores all of `content` under a new name, and returns its size in bytes. Rethrows what `content` throws, and then stores
   * nothing.
   */
  write(name: string, content: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<number>;
  /** Returns the bytes in chunks, or undefined when no complete object has the name. */
  read(name: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** Removes an object. A missing object is not an error. */
  remove(name: string, signal: AbortSignal): Promise<void>;
  list(signal: AbortSignal): Promise<readonly StoredObject[]>;
  /** Removes the incomplete objects of writers that died more than `olderThanMs` ago. */
  cleanUp(olderThanMs: number, signal: AbortSignal): Promise<void>;
}
