import { onAbort } from "../on-abort.ts";

/**
 * Wakes one waiting party. A notification that comes while no party waits is kept for the next wait; any number of them count
 * as one.
 */
export class Wakeup {
  #isNotified = false;
  #wake: (() => void) | undefined;

  notify(): void {
    this.#isNotified = true;
    this.#wake?.();
  }

  /** Resolves when there was a notification since the last wait. Rejects with the signal's reason. */
  async wait(signal: AbortSignal): Promise<void> {
    await this.#wait(undefined, signal);
  }

  /**
   * Waits for `timeoutMs` at most, and returns whether there was a notification since the last wait. Rejects with the
   * signal's reason.
   */
  async waitFor(timeoutMs: number, signal: AbortSignal): Promise<boolean> {
    return await this.#wait(timeoutMs, signal);
  }

  async #wait(timeoutMs: number | undefined, signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted();
    if (!this.#isNotified) await this.#woken(timeoutMs, signal);
    const isNotified = this.#isNotified;
    this.#isNotified = false;
    return isNotified;
  }

  async #woken(timeoutMs: number | undefined, signal: AbortSignal): Promise<void> {
    if (this.#wake !== undefined) throw new Error("another party already waits for this wakeup");
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#wake = resolve;
    const timer = timeoutMs === undefined ? undefined : setTimeout(resolve, timeoutMs);
    using _ = onAbort(signal, () => reject(signal.reason));
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      this.#wake = undefined;
    }
  }
}
