import { Notifier } from "./notifier.ts";
import { onAbort } from "../on-abort.ts";

/**
 * Permits for a limited number of parties at a time. Parties wait in the order in which they came. With one permit it is a
 * mutex.
 */
export class Semaphore {
  readonly permits: number;
  readonly #waiting = new Set<() => void>();
  readonly #released = new Notifier();
  #available: number;

  constructor(permits: number) {
    if (!(permits >= 1))
      throw new RangeError(`a semaphore needs at least 1 permit, not ${permits}`);
    this.permits = permits;
    this.#available = permits;
  }

  /** How many permits are free. A permit that a waiting party is about to receive is not free. */
  get available(): number {
    return this.#available;
  }

  /** How many parties wait in `acquire`. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Waits for a permit, which disposing releases. Rejects with the signal's reason when the signal aborts first. Do not race
   * the returned promise against something else: the permit would be lost.
   */
  async acquire(signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    if (this.#available > 0) this.#available--;
    else await this.#turn(signal);
    return this.#permit();
  }

  /** Takes a permit if one is free. Disposing it releases the permit. */
  tryAcquire(): Disposable | undefined {
    if (this.#available === 0) return undefined;
    this.#available--;
    return this.#permit();
  }

  /**
   * Resolves when a permit is free, without taking it: another party may take it first. For callers that must not hold a
   * permit while they wait for work. Rejects with the signal's reason.
   */
  async untilAvailable(signal: AbortSignal): Promise<void> {
    using released = this.#released.subscribe();
    while (this.#available === 0) await released.wait(signal);
  }

  async #turn(signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    using _ = onAbort(signal, () => {
      this.#waiting.delete(resolve);
      reject(signal.reason);
    });
    await promise;
  }

  #permit(): Disposable {
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return;
        isHeld = false;
        this.#release();
      },
    };
  }

  #release(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#available++;
      this.#released.notify();
      return;
    }
    // The permit passes on directly, so that a new party cannot overtake the waiting ones.
    this.#waiting.delete(next);
    next();
  }
}
