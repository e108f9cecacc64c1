import { Failure } from "../../failure.ts";
import type { Clock } from "../clock.ts";
import { steadyClock } from "../clock.ts";
import { delayAfter } from "./backoff.ts";
import { retryUnavailable } from "./retry-unavailable.ts";

export interface Outage {
  /** Resolves when the store answers, and throws a Failure of kind `unavailable` while it does not. */
  readonly answers: () => Promise<unknown>;
  /** How often the operation may fail in a row while the store answers. Default: 2. */
  readonly maxFailures?: number;
  /** Default: monotonic time. */
  readonly clock?: Clock;
}

/** The pauses after failures while the store answers. */
const backoff = { firstDelayMs: 100, maxDelayMs: 5_000, jitter: 0.5 };

/**
 * Runs `operation` until it succeeds, however long the store is unavailable: after a Failure of kind `unavailable`, waits until
 * the store answers and runs the operation again. Throws that Failure when the operation fails `maxFailures` times in a row
 * although the store answered at once, with pauses that grow from 0.1 s, and any other error at once.
 */
export async function outlastOutage<Result>(
  operation: () => Promise<Result>,
  { answers, maxFailures = 2, clock = steadyClock }: Outage,
  signal: AbortSignal,
): Promise<Result> {
  for (let failures = 1; ; failures++) {
    signal.throwIfAborted();
    try {
      return await operation();
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof Failure) || error.kind !== "unavailable") throw error;
      let checks = 0;
      const check = () => {
        checks++;
        return answers();
      };
      await retryUnavailable(check, { maxElapsedMs: Infinity, clock }, signal);
      if (checks > 1) failures = 0;
      else if (failures >= maxFailures) throw error;
      else await clock.sleep(delayAfter(failures, backoff), signal);
    }
  }
}
