/** Something that one party waits for, and that may be said before it waits and any number of times. */
export class Signalled {
  #said = false;
  #wake: (() => void) | undefined;

  say(): void {
    this.#said = true;
    this.#wake?.();
  }

  /**
   * Resolves when it was said since the last wait, or after `maxMs`: whether it was said. Rejects with the signal's
   * reason.
   */
  async wait(maxMs: number | undefined, signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted();
    if (!this.#said) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const abort = () => reject(signal.reason as Error);
      const timer = maxMs === undefined ? undefined : setTimeout(resolve, maxMs);
      this.#wake = resolve;
      signal.addEventListener("abort", abort, { once: true });
      try {
        await promise;
      } finally {
        clearTimeout(timer);
        this.#wake = undefined;
        signal.removeEventListener("abort", abort);
      }
    }
    const said = this.#said;
    this.#said = false;
    return said;
  }
}
