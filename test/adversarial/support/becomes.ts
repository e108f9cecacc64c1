import { setTimeout as wait } from "node:timers/promises";

const maxMs = 15_000;
const betweenMs = 25;

/** The first value that is wanted, or the last one when none came in time. */
export async function becomes<T>(
  value: () => T | Promise<T>,
  isWanted: (value: T) => boolean,
): Promise<T> {
  const until = performance.now() + maxMs;
  for (;;) {
    const found = await value();
    if (isWanted(found) || performance.now() > until) return found;
    await wait(betweenMs);
  }
}
