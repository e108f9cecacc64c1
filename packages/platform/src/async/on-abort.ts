/**
 * Calls `callback` once when `signal` aborts, or at once if it has already aborted. Disposing removes the callback, so a
 * signal that outlives the caller keeps nothing of it.
 *
 * `addAbortListener` of Node defers the callback for an aborted signal to a microtask, and calls it even if it was disposed
 * before.
 */
export function onAbort(signal: AbortSignal, callback: () => void): Disposable {
  const listener = () => callback();
  if (signal.aborted) listener();
  else signal.addEventListener("abort", listener, { once: true });
  return { [Symbol.dispose]: () => signal.removeEventListener("abort", listener) };
}
