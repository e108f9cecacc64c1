import { onAbort } from "./on-abort.ts";
import { setLongTimeout } from "./sleep.ts";

/**
 * Waits for `promise`, for `timeoutMs` at most, and returns whether it was fulfilled by then. Rejects as `promise` does, or
 * with the signal's reason. The work behind `promise` continues in any case; a later error is ignored.
 */
export function settledWithin(
  promise: Promise<unknown>,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const { promise: settled, resolve, reject } = Promise.withResolvers<boolean>();
  const resources = new DisposableStack();
  const end = (settle: () => void) => {
    resources.dispose();
    settle();
  };
  promise.then(
    () => end(() => resolve(true)),
    (error: unknown) => end(() => reject(error)),
  );
  const abort = () => end(() => reject(signal.reason));
  // A promise that has settled wins.
  if (signal.aborted) queueMicrotask(abort);
  else {
    resources.use(onAbort(signal, abort));
    resources.use(setLongTimeout(() => end(() => resolve(false)), timeoutMs));
  }
  return settled;
}
