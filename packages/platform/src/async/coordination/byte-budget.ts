import { onAbort } from "../on-abort.ts";

interface Waiting {
  readonly owner: string;
  readonly bytes: number;
  start(): void;
}

/**
 * A number of bytes that the parties of several owners share, of which one owner has at most half, or one party that needs more. They
 * wait in the order in which they came, so that a large one is not overtaken; nobody waits for those of an owner that has its share.
 */
export class ByteBudget {
  readonly maxBytes: number;
  readonly #waiting = new Set<Waiting>();
  readonly #ofOwners = new Map<string, number>();
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
   * Waits for bytes, which disposing releases. A party that needs more than all bytes waits for all of them. Rejects with the signal's
   * reason when the signal aborts first. Do not race the returned promise against something else: the bytes would be lost.
   */
  async acquire(owner: string, neededBytes: number, signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    const bytes = Math.min(neededBytes, this.maxBytes);
    const { promise, resolve: start, reject } = Promise.withResolvers<void>();
    const waiting: Waiting = { owner, bytes, start };
    this.#waiting.add(waiting);
    this.#startWaiting();
    using _ = onAbort(signal, () => {
      // It may have got its bytes already.
      if (!this.#waiting.delete(waiting)) return;
      reject(signal.reason);
      this.#startWaiting();
    });
    await promise;
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return;
        isHeld = false;
        this.#take(owner, -bytes);
        this.#startWaiting();
      },
    };
  }

  get #maxShare(): number {
    return Math.ceil(this.maxBytes / 2);
  }

  #startWaiting(): void {
    // An owner whose first party waits for its share keeps its own order.
    const full = new Set<string>();
    for (const next of this.#waiting) {
      const { owner, bytes } = next;
      if (full.has(owner)) continue;
      const held = this.#ofOwners.get(owner) ?? 0;
      if (held > 0 && held + bytes > this.#maxShare) {
        full.add(owner);
        continue;
      }
      if (bytes > this.#available) return;
      this.#take(owner, bytes);
      this.#waiting.delete(next);
      next.start();
    }
  }

  #take(owner: string, bytes: number): void {
    this.#available -= bytes;
    const held = (this.#ofOwners.get(owner) ?? 0) + bytes;
    if (held > 0) this.#ofOwners.set(owner, held);
    else this.#ofOwners.delete(owner);
  }
}
