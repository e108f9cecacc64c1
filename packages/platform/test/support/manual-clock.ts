import { setImmediate as macrotask } from "node:timers/promises";
import { abortable } from "../../src/async/abortable.ts";
import type { Clock } from "../../src/async/clock.ts";

interface Sleeper {
  readonly dueMs: number;
  readonly wake: () => void;
}

/** A clock that only moves when a test advances it. */
export class ManualClock implements Clock {
  /** The delays of all sleeps, in the order in which they began. */
  readonly delaysMs: number[] = [];
  readonly #sleepers = new Set<Sleeper>();
  #nowMs: number;

  constructor(nowMs = 0) {
    this.#nowMs = nowMs;
  }

  /** How many sleeps have not ended. */
  get sleepers(): number {
    return this.#sleepers.size;
  }

  now(): number {
    return this.#nowMs;
  }

  async sleep(delayMs: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    this.delaysMs.push(delayMs);
    const { promise, resolve } = Promise.withResolvers<void>();
    const sleeper = { dueMs: this.#nowMs + delayMs, wake: resolve };
    this.#sleepers.add(sleeper);
    try {
      await abortable(promise, signal);
    } finally {
      this.#sleepers.delete(sleeper);
    }
  }

  /** Advances the time, wakes the sleepers that are due, and lets their continuations run. */
  async advance(ms: number): Promise<void> {
    this.#nowMs += ms;
    for (const { dueMs, wake } of this.#sleepers) if (dueMs <= this.#nowMs) wake();
    await macrotask();
  }
}

/** A clock that jumps over every delay. */
export class HastyClock extends ManualClock {
  override async sleep(delayMs: number, signal: AbortSignal): Promise<void> {
    const asleep = super.sleep(delayMs, signal);
    await this.advance(delayMs);
    await asleep;
  }
}
