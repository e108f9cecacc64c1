/** How the delays between attempts grow. */
export interface BackoffOptions {
  /** The delay after the first failure. Each further failure doubles it. */
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
  /**
   * The share of each delay that is random, from 0 to 1, so that clients do not retry at the same moment. 0.5 gives delays
   * from half of the computed one up to all of it. Default: 0.
   */
  readonly jitter?: number;
}

/** Enough doublings to reach any cap; more would overflow. */
const maxDoublings = 60;

/** Returns the delay in milliseconds after `failures` failures in a row, the first of which is number 1. */
export function delayAfter(
  failures: number,
  { firstDelayMs, maxDelayMs, jitter = 0 }: BackoffOptions,
  random: () => number = Math.random,
): number {
  const doublings = Math.min(Math.max(failures - 1, 0), maxDoublings);
  const delayMs = Math.min(firstDelayMs * 2 ** doublings, maxDelayMs);
  return jitter === 0 ? delayMs : delayMs * (1 - jitter * random());
}

/**
 * Counts failures in a row and computes the delay after each, for loops that keep a connection or a subscription open. Use
 * `retry` for an operation that ends with a result.
 */
export class Backoff {
  readonly #options: BackoffOptions;
  readonly #random: () => number;
  #failures = 0;

  constructor(options: BackoffOptions, random: () => number = Math.random) {
    this.#options = options;
    this.#random = random;
  }

  /** How many failures there were since the last success. */
  get failures(): number {
    return this.#failures;
  }

  /** Counts a failure and returns the delay in milliseconds before the next attempt, at least `minDelayMs`. */
  next(minDelayMs = 0): number {
    this.#failures++;
    return Math.max(delayAfter(this.#failures, this.#options, this.#random), minDelayMs);
  }

  /** Counts a success: the next delay is the first one again. */
  reset(): void {
    this.#failures = 0;
  }
}
