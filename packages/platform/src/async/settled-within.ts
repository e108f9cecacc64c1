import { sleep } from "./sleep.ts";

/** One for all: an exception for each call would cost its stack. */
const over = new DOMException("the wait is over", "AbortError");

/**
 * Waits for `promise`, for `timeoutMs` at most, and returns whether it was fulfilled by then. Rejects as `promise` does, or
 * with the signal's reason. The work behind `promise` continues in any case; a later error is ignored.
 */
export async function settledWithin(
  promise: Promise<unknown>,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const end = new AbortController();
  const timeout = sleep(timeoutMs, AbortSignal.any([signal, end.signal])).then(() => false);
  try {
    return await Promise.race([promise.then(() => true), timeout]);
  } finally {
    end.abort(over);
    timeout.catch(() => undefined);
  }
}
