import { onAbort } from "./on-abort.ts";

/** The longest delay that a timer of Node keeps; it fires a longer one after a millisecond. */
const maxTimerMs = 2 ** 31 - 1;

/**
 * Resolves after `delayMs`, which may be Infinity. Rejects with the signal's reason when the signal aborts. Keeps the process
 * alive meanwhile.
 *
 * The sleep of Node creates an exception with its stack for each abort, which is noticeable in streams that abort one for
 * every item; this one rejects with the reason itself.
 */
export async function sleep(delayMs: number, signal: AbortSignal): Promise<void> {
  let leftMs = delayMs;
  for (; leftMs > maxTimerMs; leftMs -= maxTimerMs) await timer(maxTimerMs, signal);
  await timer(leftMs, signal);
}

/** Resolves when `signal` aborts. Keeps the process alive until then. */
export async function untilAborted(signal: AbortSignal): Promise<void> {
  await sleep(Infinity, signal).catch(() => undefined);
}

async function timer(delayMs: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timeout = setTimeout(resolve, delayMs);
  using _ = onAbort(signal, () => {
    clearTimeout(timeout);
    reject(signal.reason);
  });
  await promise;
}
