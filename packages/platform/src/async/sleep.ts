/**
 * Resolves after `delayMs`; rejects with the signal's own reason. The sleep of Node makes an exception with its stack each
 * time that it is ended, which streams do with every item.
 */
export function sleep(delayMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.reject(signal.reason as Error);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const abort = () => {
    clearTimeout(timer);
    reject(signal.reason as Error);
  };
  const timer = setTimeout(() => {
    signal.removeEventListener("abort", abort);
    resolve();
  }, delayMs);
  signal.addEventListener("abort", abort, { once: true });
  return promise;
}
