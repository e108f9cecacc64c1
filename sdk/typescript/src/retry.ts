import { setTimeout as wait } from "node:timers/promises";
import { ReeveError } from "./reeve-error.ts";

const firstDelayMs = 100;
const maxDelayMs = 5_000;

/** How long a request may take. */
export interface RetryLimits {
  /** For all attempts together, in milliseconds. */
  readonly requestTimeoutMs: number;
  /** After this time no further attempt starts. */
  readonly retryTimeoutMs: number;
}

/**
 * Sends a request that is safe to repeat, and repeats it while no server can be reached. `request` receives the time, in
 * milliseconds, that is left for it. Throws a ReeveError, or the signal's reason.
 */
export async function retry<Response>(
  request: (timeoutMs: number) => Promise<Response>,
  { requestTimeoutMs, retryTimeoutMs }: RetryLimits,
  signal: AbortSignal | undefined,
): Promise<Response> {
  const startedAt = performance.now();
  const end = startedAt + requestTimeoutMs;
  const lastAttempt = startedAt + Math.min(retryTimeoutMs, requestTimeoutMs);
  for (let failures = 1; ; failures++) {
    try {
      return await request(Math.max(1, Math.ceil(end - performance.now())));
    } catch (error) {
      signal?.throwIfAborted();
      const delayMs = delayBeforeRetry(ReeveError.from(error), failures, lastAttempt);
      await wait(delayMs, undefined, signal && { signal });
    }
  }
}

/**
 * Returns how long to wait before the next attempt, in milliseconds: at most 100 ms after the first failure, twice as long
 * after each further one, up to 5 s, but never less than the server asks for. Up to half of the delay is random, so that
 * clients do not all return at once. Throws `error` if it is permanent, or if the next attempt would start after `deadline`,
 * a time of `performance.now()`.
 */
export function delayBeforeRetry(
  error: ReeveError,
  failures: number,
  deadline: number,
  { isTransient }: Pick<ReeveError, "isTransient"> = error,
): number {
  const maxMs = Math.min(firstDelayMs * 2 ** (failures - 1), maxDelayMs);
  const delayMs = Math.max(maxMs * (0.5 + Math.random() / 2), error.retryAfterMs ?? 0);
  if (!isTransient || performance.now() + delayMs >= deadline) throw error;
  return delayMs;
}
