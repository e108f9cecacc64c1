import { Wakeup } from "@reeve/platform/async/coordination/wakeup";
import { delayAfter } from "@reeve/platform/async/retry/backoff";

interface Due {
  readonly key: string;
  readonly dueMs: number;
}

/** The delays before a failed key is due again. */
const backoff = { firstDelayMs: 1_000, maxDelayMs: 60_000 };

/** A priority queue of keys by their due times, in milliseconds since the epoch. Setting and taking are O(log n). */
export class DueTimes {
  /** The current entry of each key. */
  readonly #due = new Map<string, Due>();
  /** A heap, earliest first. It keeps outdated entries until they reach the top, or until there are too many of them. */
  #heap: Due[] = [];
  /** The number of failures in a row of each failed key. */
  readonly #failures = new Map<string, number>();
  readonly #earlier = new Wakeup();

  /** The number of keys. */
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
    if (next === undefined || dueMs < next) this.#earlier.notify();
  }

  /** Schedules a key whose processing failed, with a delay that doubles with each failure. Returns the delay. */
  retry(key: string, nowMs: number): number {
    const failures = (this.#failures.get(key) ?? 0) + 1;
    const delayMs = delayAfter(failures, backoff);
    this.#failures.set(key, failures);
    this.set(key, nowMs + delayMs);
    return delayMs;
  }

  /** The number of keys whose last processing failed. */
  get retried(): number {
    return this.#failures.size;
  }

  /** Marks a key that was taken as processed. */
  settle(key: string): void {
    this.#failures.delete(key);
  }

  /** Removes a key. */
  remove(key: string): void {
    this.#due.delete(key);
    this.#failures.delete(key);
  }

  /** Returns the earliest due time, or undefined without keys. */
  next(): number | undefined {
    return this.#earliest()?.dueMs;
  }

  /** Removes and returns the keys that are due at `nowMs`, earliest first. */
  takeUntil(nowMs: number): readonly string[] {
    const taken: string[] = [];
    for (let due = this.#earliest(); due && due.dueMs <= nowMs; due = this.#earliest()) {
      this.#pop();
      this.#due.delete(due.key);
      taken.push(due.key);
    }
    return taken;
  }

  /**
   * Resolves when a time earlier than all others is set, or was set before this call. Only one party at a time may wait.
   * Rejects with the signal's reason.
   */
  async changed(signal: AbortSignal): Promise<void> {
    await this.#earlier.wait(signal);
  }

  #earliest(): Due | undefined {
    for (;;) {
      const [top] = this.#heap;
      if (top === undefined || this.#due.get(top.key) === top) return top;
      this.#pop();
    }
  }

  #rebuild(): void {
    // A sorted array is a valid heap.
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
