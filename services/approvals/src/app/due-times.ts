interface Due {
  readonly key: string;
  readonly dueMs: number;
}

/** How long a key rests of which nothing came: doubled with each time. */
const firstRetryMs = 1_000;
const longestRetryMs = 60_000;

/** Keys and the times at which they are due, in milliseconds since the epoch. Setting and taking cost little with any number. */
export class DueTimes {
  /** What counts of each key. */
  readonly #due = new Map<string, Due>();
  /** A heap, earliest first. What was set again or removed stays in it until it comes to the top, or there is too much of it. */
  #heap: Due[] = [];
  /** How long the keys rest next of which nothing came. */
  readonly #retries = new Map<string, number>();
  #wake: (() => void) | undefined;

  /** How many keys there are. */
  get size(): number {
    return this.#due.size;
  }

  set(key: string, dueMs: number): void {
    if (this.#due.get(key)?.dueMs === dueMs) return;
    const next = this.next();
    const due = { key, dueMs };
    this.#due.set(key, due);
    if (this.#heap.length > 2 * this.#due.size + 100) this.#rebuild();
    else this.#push(due);
    if (next === undefined || dueMs < next) this.#wake?.();
  }

  /** Sets a key that was taken, and of which nothing came, again, later each time. Returns the delay. */
  retry(key: string, nowMs: number): number {
    const retryMs = this.#retries.get(key) ?? firstRetryMs;
    this.#retries.set(key, Math.min(retryMs * 2, longestRetryMs));
    this.set(key, nowMs + retryMs);
    return retryMs;
  }

  /** How many keys are to be tried again. */
  get retried(): number {
    return this.#retries.size;
  }

  /** Says that something came of a key that was taken. */
  settle(key: string): void {
    this.#retries.delete(key);
  }

  /** Forgets the key. */
  remove(key: string): void {
    this.#due.delete(key);
    this.#retries.delete(key);
  }

  /** The time of the next one; undefined when there is none. */
  next(): number | undefined {
    return this.#earliest()?.dueMs;
  }

  /** Takes out what is due at `nowMs`, earliest first. */
  takeUntil(nowMs: number): readonly string[] {
    const taken: string[] = [];
    for (let due = this.#earliest(); due && due.dueMs <= nowMs; due = this.#earliest()) {
      this.#pop();
      this.#due.delete(due.key);
      taken.push(due.key);
    }
    return taken;
  }

  /** Resolves when an earlier time is set than any before; one party at a time may wait. Rejects with the signal's reason. */
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

  #earliest(): Due | undefined {
    for (;;) {
      const [top] = this.#heap;
      if (top === undefined || this.#due.get(top.key) === top) return top;
      this.#pop();
    }
  }

  #rebuild(): void {
    // What is in order is a heap.
    this.#heap = [...this.#due.values()].toSorted((a, b) => a.dueMs - b.dueMs);
  }

  #push(due: Due): void {
    let at = this.#heap.push(due) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (this.#dueAt(above) <= due.dueMs) break;
      this.#swap(at, above);
      at = above;
    }
  }

  #pop(): void {
    const last = this.#heap.pop();
    if (last === undefined || this.#heap.length === 0) return;
    this.#heap[0] = last;
    for (let at = 0; ;) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      const below = this.#dueAt(right) < this.#dueAt(left) ? right : left;
      if (this.#dueAt(below) >= last.dueMs) return;
      this.#swap(at, below);
      at = below;
    }
  }

  #dueAt(at: number): number {
    return this.#heap[at]?.dueMs ?? Infinity;
  }

  #swap(a: number, b: number): void {
    const [first, second] = [this.#heap[a], this.#heap[b]];
    if (first === undefined || second === undefined) return;
    this.#heap[a] = second;
    this.#heap[b] = first;
  }
}
