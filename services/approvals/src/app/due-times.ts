interface Due {
  readonly key: string;
  readonly dueMs: number;
}

/** Keys and the times at which they are due, in milliseconds since the epoch. Setting and taking cost little with any number. */
export class DueTimes {
  /** What counts of each key. */
  readonly #due = new Map<string, Due>();
  /** A heap, earliest first. What was set again or removed stays in it until it comes to the top, or there is too much of it. */
  #heap: Due[] = [];
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

  remove(key: string): void {
    this.#due.delete(key);
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
