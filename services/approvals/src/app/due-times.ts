/** Keys and the times at which they are due, in milliseconds since the epoch. */
export class DueTimes {
  readonly #due = new Map<string, number>();
  #wake: (() => void) | undefined;

  set(key: string, dueMs: number): void {
    this.#due.set(key, dueMs);
    this.#wake?.();
  }

  remove(key: string): void {
    this.#due.delete(key);
  }

  /** The time of the next one; undefined when there is none. */
  next(): number | undefined {
    let next: number | undefined;
    for (const dueMs of this.#due.values()) if (next === undefined || dueMs < next) next = dueMs;
    return next;
  }

  /** Takes out what is due at `nowMs`. */
  takeUntil(nowMs: number): readonly string[] {
    const taken = [...this.#due].filter(([, dueMs]) => dueMs <= nowMs).map(([key]) => key);
    for (const key of taken) this.#due.delete(key);
    return taken;
  }

  /** Resolves when a time is set; one party at a time may wait. Rejects with the signal's reason. */
  async changed(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const abort = () => reject(signal.reason as Error);
    this.#wake = resolve;
    signal.addEventListener("abort", abort, { once: true });
    try {
      await promise;
    } finally {
      this.#wake = undefined;
      signal.removeEventListener("abort", abort);
    }
  }
}
