/** The description of a stored object. */
export interface StoredObject {
  readonly name: string;
  readonly sizeBytes: number;
  readonly storedAt: Date;
}

/** Where bytes were stored. */
export interface WrittenObject {
  readonly name: string;
  readonly sizeBytes: number;
}

/**
 * Stores bytes by their content. Methods throw a Failure of kind `unavailable` when the store does not answer, and `exhausted`
 * when it is full.
 */
export interface Objects {
  /**
   * Stores all of `content` under the name `<folder>/<SHA-256 in hexadecimal>`. Content that is there already is stored once, and
   * its time becomes the current one. Rethrows what `content` throws, and then stores nothing.
   */
  write(
    folder: string,
    content: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<WrittenObject>;
  /**
   * Returns the bytes in chunks, or undefined when no complete object has the name. A majority of the servers has confirmed that
   * none has.
   */
  read(name: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** Removes an object. A missing object is not an error. */
  remove(name: string, signal: AbortSignal): Promise<void>;
  /** Removes an object as it was listed. Returns false when its content was stored again since, or when it is gone. */
  removeUnchanged(object: StoredObject, signal: AbortSignal): Promise<boolean>;
  list(signal: AbortSignal): Promise<readonly StoredObject[]>;
  /** Removes the incomplete objects of writers that died more than `olderThanMs` ago. */
  cleanUp(olderThanMs: number, signal: AbortSignal): Promise<void>;
}
