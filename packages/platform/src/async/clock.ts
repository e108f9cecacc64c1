import { sleep } from "./sleep.ts";

/** A source of time. Production code passes one of the clocks below; tests pass one that they advance. */
export interface Clock {
  /** The time in milliseconds. Only the clock decides since when. */
  now(): number;
  /** Resolves after `delayMs`. Rejects with the signal's reason when the signal aborts. */
  sleep(delayMs: number, signal: AbortSignal): Promise<void>;
}

/** Wall-clock time, in milliseconds since the epoch. It may jump; use it for times that are stored or shown. */
export const systemClock: Clock = { now: () => Date.now(), sleep };

/** Monotonic time. It never jumps; use it to measure durations. */
export const steadyClock: Clock = { now: () => performance.now(), sleep };
