/** Whether a signal has aborted. A function call, because the compiler narrows `signal.aborted` after the first check. */
export function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}

/** Resolves when `signal` aborts, and keeps the process alive until then. */
export async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const keepAlive = setInterval(() => undefined, 60_000);
  signal.addEventListener("abort", () => resolve(), { once: true });
  await promise;
  clearInterval(keepAlive);
}
