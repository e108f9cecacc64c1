import { onAbort } from "./on-abort.ts";

/**
 * Resolves or rejects as `promise` does, or rejects with the signal's reason as soon as the signal aborts. A promise that
 * has already settled wins over a signal that has already aborted.
 *
 * The work behind `promise` continues after an abort: its result is lost, and its error is ignored. Pass the signal to the
 * work itself where the result has to be released.
 */
export async function abortable<Result>(
  promise: Promise<Result>,
  signal: AbortSignal,
): Promise<Result> {
  const aborted = Promise.withResolvers<never>();
  using _ = onAbort(signal, () => aborted.reject(signal.reason));
  return await Promise.race([promise, aborted.promise]);
}
