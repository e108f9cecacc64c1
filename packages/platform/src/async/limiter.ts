/** So many at a time; the others wait in the order in which they came. */
export class Limiter {
  #free: number;
  readonly #waiting: {
    readonly resolve: () => void;
    readonly reject: (reason: unknown) => void;
  }[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** Resolves when it is one's turn, which lasts until what it gives is disposed. Rejects with the reason of `signal`. */
  async take(signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else await this.#wait(signal);
    let isTaken = true;
    return {
      [Symbol.dispose]: () => {
        if (!isTaken) return;
        isTaken = false;
        const next = this.#waiting.shift();
        if (next === undefined) this.#free++;
        else next.resolve();
      },
    };
  }

  async #wait(signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter = { resolve, reject };
    this.#waiting.push(waiter);
    const abort = () => {
      const at = this.#waiting.indexOf(waiter);
      if (at >= 0) this.#waiting.splice(at, 1);
      reject(signal.reason);
    };
    signal.addEventListener("abort", abort, { once: true });
    try {
      await promise;
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }
}
