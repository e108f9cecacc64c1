import { onAbort } from "./on-abort.ts";

/**
 * Returns a signal that aborts `delayMs` after `signal` does, with the same reason: for work that may finish after it was
 * asked to stop, but not take forever. The delay does not keep the process alive.
 */
export function abortLater(delayMs: number, signal: AbortSignal): AbortSignal {
  const later = new AbortController();
  onAbort(signal, () => {
    setTimeout(() => later.abort(signal.reason), delayMs).unref();
  });
  return later.signal;
}
