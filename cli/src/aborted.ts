/** Whether a signal has aborted, in a form that the compiler does not remember from an earlier look. */
export function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}

/** Resolves when `signal` aborts. Keeps the process alive until then. */
export async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const alive = setInterval(() => undefined, 60_000);
  signal.addEventListener("abort", () => resolve(), { once: true });
  await promise;
  clearInterval(alive);
}
