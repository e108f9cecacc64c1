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
export function sleep(delayMs: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  if (signal.aborted) {
    reject(signal.reason);
    return promise;
  }
  const timeout = setLongTimeout(() => {
    listening[Symbol.dispose]();
    resolve();
  }, delayMs);
  const listening = onAbort(signal, () => {
    timeout[Symbol.dispose]();
    reject(signal.reason);
  });
  return promise;
}

/** Calls `callback` after `delayMs`, which may be Infinity, unless the returned object is disposed before. */
export function setLongTimeout(callback: () => void, delayMs: number): Disposable {
  let leftMs = delayMs;
  let timer: NodeJS.Timeout;
  const start = () => {
    const partMs = Math.min(leftMs, maxTimerMs);
    leftMs -= partMs;
    timer = setTimeout(leftMs > 0 ? start : callback, partMs);
  };
  start();
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}

/** Resolves when `signal` aborts. Keeps the process alive until then. */
export async function untilAborted(signal: AbortSignal): Promise<void> {
  await sleep(Infinity, signal).catch(() => undefined);
}
