import type { Clock } from "../../src/app/approval-ports.ts";

interface Sleeper {
  readonly dueMs: number;
  readonly wake: () => void;
}

/** A clock that stands still until it is told to go on. */
export class ManualClock implements Clock {
  readonly #sleepers = new Set<Sleeper>();
  #nowMs: number;

  constructor(nowMs: number) {
    this.#nowMs = nowMs;
  }

  /** How many are asleep. */
  get sleepers(): number {
    return this.#sleepers.size;
  }

  now(): number {
    return this.#nowMs;
  }

  async sleep(delayMs: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const sleeper = { dueMs: this.#nowMs + delayMs, wake: resolve };
    const abort = () => reject(signal.reason as Error);
    this.#sleepers.add(sleeper);
    signal.addEventListener("abort", abort, { once: true });
    try {
      await promise;
    } finally {
      this.#sleepers.delete(sleeper);
      signal.removeEventListener("abort", abort);
    }
  }

  advance(ms: number): void {
    this.#nowMs += ms;
    for (const { dueMs, wake } of this.#sleepers) if (dueMs <= this.#nowMs) wake();
  }
}
