/** Calls `callback` every `intervalMs`, for heartbeats, until it is disposed. Keeps the process alive until then. */
export function every(intervalMs: number, callback: () => void): Disposable {
  const timer = setInterval(callback, intervalMs);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
