import { setTimeout as wait } from "node:timers/promises";
import { ReeveError } from "./reeve-error.ts";

const firstMs = 100;
const longestMs = 5_000;

/**
 * Waits before attempt `failures` + 1: longer each time, not all clients at once, and no less than the server asked for.
 * Throws `error` instead if that would be later than `until`, a time of `performance.now()`.
 */
export async function backOff(
  error: ReeveError,
  failures: number,
  until: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const most = Math.min(firstMs * 2 ** (failures - 1), longestMs);
  const delayMs = Math.max(most * (0.5 + Math.random() / 2), error.retryAfterMs ?? 0);
  if (!error.isTransient || performance.now() + delayMs >= until) throw error;
  await wait(delayMs, undefined, signal && { signal });
}

/** Makes a request that may be repeated, again while no server can be reached, for `timeoutMs` in all. */
export async function persistently<Result>(
  request: (timeoutMs: number) => Promise<Result>,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<Result> {
  const until = performance.now() + timeoutMs;
  for (let failures = 1; ; failures++) {
    try {
      return await request(Math.max(1, Math.ceil(until - performance.now())));
    } catch (error) {
      signal?.throwIfAborted();
      await backOff(ReeveError.from(error), failures, until, signal);
    }
  }
}
