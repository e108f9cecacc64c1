import { onAbort } from "../on-abort.ts";

interface Waiting {
  readonly bytes: number;
  start(): void;
}

/** A number of bytes that parties share. They wait in the order in which they came, so that a large one is not overtaken. */
export class ByteBudget {
  readonly maxBytes: number;
  readonly #waiting = new Set<Waiting>();
  #available: number;

  constructor(maxBytes: number) {
    if (!(maxBytes >= 1)) throw new RangeError(`a budget needs at least 1 byte, not ${maxBytes}`);
    this.maxBytes = maxBytes;
    this.#available = maxBytes;
  }

  /** How many bytes are free. */
  get available(): number {
    return this.#available;
  }

  /** How many parties wait in `acquire`. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Waits for bytes, which disposing releases. A party that needs more than the budget waits for all of it. Rejects with the signal's reason when
   * the signal aborts first. Do not race the returned promise against something else: the bytes would be lost.
   */
  async acquire(neededBytes: number, signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    const bytes = Math.min(neededBytes, this.maxBytes);
    if (this.#waiting.size === 0 && bytes <= this.#available) this.#available -= bytes;
    else await this.#turn(bytes, signal);
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return;
        isHeld = false;
        this.#available += bytes;
        this.#startWaiting();
      },
    };
  }

  async #turn(bytes: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting: Waiting = { bytes, start: resolve };
    this.#waiting.add(waiting);
    using _ = onAbort(signal, () => {
      // It may have got its bytes already.
      if (!this.#waiting.delete(waiting)) return;
      reject(signal.reason);
      this.#startWaiting();
    });
    await promise;
  }

  #startWaiting(): void {
    for (const next of this.#waiting) {
      if (next.bytes > this.#available) return;
      this.#available -= next.bytes;
      this.#waiting.delete(next);
      next.start();
    }
  }
}
