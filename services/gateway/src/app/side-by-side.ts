/**
 * Runs jobs that go on until `signal` aborts. When one of them breaks, the others do not go on alone: they are ended, and
 * its error stands.
 */
export async function sideBySide(
  jobs: readonly ((signal: AbortSignal) => Promise<void>)[],
  signal: AbortSignal,
): Promise<void> {
  const end = new AbortController();
  const bounded = AbortSignal.any([signal, end.signal]);
  const running = jobs.map((job) => job(bounded));
  try {
    await Promise.all(running);
  } finally {
    end.abort(new DOMException("what ran beside it broke", "AbortError"));
    await Promise.allSettled(running);
  }
}
