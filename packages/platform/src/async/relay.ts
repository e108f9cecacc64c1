/** How a stream ended: by itself, by an error, or because its reader left it. */
export type RelayEnd =
  | { readonly kind: "ended" }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "left" };

export interface RelayOptions<Item> {
  /** Called with each item before it is passed on. What it throws ends the stream. Default: does nothing. */
  onItem?(item: Item): void;
  /** Returns the error that is thrown instead of another one. Default: that one. */
  mapError?(error: unknown): unknown;
  /** Called once, when the source has ended or was left, also if leaving it fails. Default: does nothing. */
  onEnd?(end: RelayEnd): void;
}

/**
 * Passes the items of a stream on. Does what an async generator with a loop over the stream does, for one promise instead of several for
 * each item: a message to many watchers passes several of them for each watcher.
 */
export function relay<Item>(
  source: AsyncIterable<Item>,
  options: RelayOptions<Item>,
): AsyncIterableIterator<Item> {
  return new Relay(source, options);
}

class Relay<Item> implements AsyncIterableIterator<Item> {
  readonly #source: AsyncIterator<Item>;
  readonly #options: RelayOptions<Item>;
  #isOver = false;

  constructor(source: AsyncIterable<Item>, options: RelayOptions<Item>) {
    this.#source = source[Symbol.asyncIterator]();
    this.#options = options;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Item>> {
    if (this.#isOver) return Promise.resolve({ done: true, value: undefined });
    return this.#source.next().then(this.#passOn, this.#fail);
  }

  async return(): Promise<IteratorResult<Item>> {
    try {
      if (!this.#isOver) await this.#source.return?.();
    } catch (error) {
      return this.#fail(error);
    }
    this.#end({ kind: "left" });
    return { done: true, value: undefined };
  }

  async throw(error: unknown): Promise<IteratorResult<Item>> {
    try {
      if (!this.#isOver) await this.#source.return?.();
    } catch {
      // As in a loop over the source: the error that ends the loop comes first.
    }
    return this.#fail(error);
  }

  readonly #passOn = (
    result: IteratorResult<Item>,
  ): IteratorResult<Item> | Promise<IteratorResult<Item>> => {
    if (result.done === true) {
      this.#end({ kind: "ended" });
      return { done: true, value: undefined };
    }
    try {
      this.#options.onItem?.(result.value);
      return result;
    } catch (error) {
      return this.throw(error);
    }
  };

  readonly #fail = (error: unknown): never => {
    this.#end({ kind: "failed", error });
    const { mapError } = this.#options;
    throw mapError === undefined ? error : mapError(error);
  };

  #end(end: RelayEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.onEnd?.(end);
  }
}
