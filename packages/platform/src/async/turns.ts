/** Lets one in at a time, in the order in which they came. */
export class Turns {
  #last: Promise<void> = Promise.resolve();

  /** Resolves when it is the caller's turn, which it ends by disposing. Rejects when `signal` aborts before. */
  async enter(signal: AbortSignal): Promise<Disposable> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    const aborted = Promise.withResolvers<never>();
    const abort = () => aborted.reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
    try {
      await Promise.race([before, aborted.promise]);
      return { [Symbol.dispose]: resolve };
    } catch (error) {
      // Whoever comes next still waits for those before.
      void before.then(resolve);
      throw error;
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }
}
