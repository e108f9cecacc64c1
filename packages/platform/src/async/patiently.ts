import { setTimeout as wait } from "node:timers/promises";
import { Failure } from "../failure.ts";

const firstDelayMs = 50;
const longestDelayMs = 1_000;

/**
 * Asks until there is an answer: again while the store is unavailable, after pauses that double, for about `maxMs`. Then
 * the last failure stands. Any other failure stands at once.
 */
export async function patiently<Answer>(
  ask: () => Promise<Answer>,
  maxMs: number,
  signal: AbortSignal,
): Promise<Answer> {
  const givesUpAt = performance.now() + maxMs;
  for (let delayMs = firstDelayMs; ; delayMs = Math.min(delayMs * 2, longestDelayMs)) {
    signal.throwIfAborted();
    try {
      return await ask();
    } catch (error) {
      if (!isUnavailable(error) || performance.now() + delayMs > givesUpAt) throw error;
    }
    await pause(delayMs * (0.5 + Math.random() / 2), signal);
  }
}

/** Resolves after `delayMs`. Rejects with the signal's reason. */
export async function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  await wait(delayMs, undefined, { signal }).catch(() => undefined);
  signal.throwIfAborted();
}

function isUnavailable(error: unknown): boolean {
  return error instanceof Failure && error.kind === "unavailable";
}
