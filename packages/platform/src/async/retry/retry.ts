import type { BackoffOptions } from "./backoff.ts";
import { Backoff } from "./backoff.ts";
import type { Clock } from "../clock.ts";
import { steadyClock } from "../clock.ts";

export interface RetryOptions {
  readonly backoff: BackoffOptions;
  /** The maximum number of attempts, including the first. Default: no limit. */
  readonly maxAttempts?: number;
  /** No attempt starts later than this after the first one; a running attempt is not interrupted. Default: no limit. */
  readonly maxElapsedMs?: number;
  /** Whether another attempt may succeed after this error. */
  isRetryable(error: unknown): boolean;
  /** How long the server asked to wait, from its error. A longer back-off delay wins. Default: it never asks. */
  retryAfterMs?(error: unknown): number | undefined;
  /** Called before each delay, for logs. */
  onRetry?(error: unknown, retry: Retry): void;
  /** Default: monotonic time. */
  readonly clock?: Clock;
  /** Returns a number from 0 to less than 1. Default: `Math.random`. */
  random?(): number;
}

/** An attempt that failed and will be repeated. */
export interface Retry {
  /** The number of the attempt that failed, starting at 1. */
  readonly attempt: number;
  /** The delay before the next attempt. */
  readonly delayMs: number;
}

/**
 * Runs `operation` until it succeeds, with delays that double between attempts. Throws the last error when it is not
 * retryable, when no attempts are left, or when the delay would exceed the time limit.
 *
 * Throws the signal's reason when the signal aborts before an attempt, during a delay, or during an attempt that then fails.
 * The signal does not interrupt an attempt: pass it to the operation as well. A result that arrives after the abort is still
 * returned, because the operation may have written something.
 */
export async function retry<Result>(
  operation: () => Promise<Result>,
  options: RetryOptions,
  signal: AbortSignal,
): Promise<Result> {
  const { maxAttempts = Infinity, maxElapsedMs = Infinity, clock = steadyClock } = options;
  let backoff: Backoff | undefined;
  const deadlineMs = clock.now() + maxElapsedMs;
  for (let attempt = 1; ; attempt++) {
    signal.throwIfAborted();
    try {
      return await operation();
    } catch (error) {
      signal.throwIfAborted();
      if (attempt >= maxAttempts || !options.isRetryable(error)) throw error;
      backoff ??= new Backoff(options.backoff, options.random);
      const delayMs = backoff.next(options.retryAfterMs?.(error));
      if (clock.now() + delayMs > deadlineMs) throw error;
      options.onRetry?.(error, { attempt, delayMs });
      await clock.sleep(delayMs, signal);
    }
  }
}
