/**
 * Runs jobs that need each other, until all have ended. When one rejects, aborts the others, waits for them, and rejects with
 * the first error.
 */
export async function runTogether(
  jobs: readonly ((signal: AbortSignal) => Promise<void>)[],
  signal: AbortSignal,
): Promise<void> {
  const end = new AbortController();
  const bounded = AbortSignal.any([signal, end.signal]);
  const running = jobs.map((job) => job(bounded));
  try {
    await Promise.all(running);
  } finally {
    end.abort(new DOMException("another job has ended", "AbortError"));
    await Promise.allSettled(running);
  }
}
