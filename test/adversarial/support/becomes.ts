import { setTimeout as wait } from "node:timers/promises";

const maxMs = 15_000;
const pollMs = 25;

/** Polls a value for 15 seconds at most. Returns the first value that meets the condition, or the last one. */
export async function becomes<T>(
  value: () => T | Promise<T>,
  isExpected: (value: T) => boolean,
): Promise<T> {
  const until = performance.now() + maxMs;
  for (;;) {
    const found = await value();
    if (isExpected(found) || performance.now() > until) return found;
    await wait(pollMs);
  }
}
