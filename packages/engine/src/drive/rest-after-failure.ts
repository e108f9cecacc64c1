const firstDelayMs = 1_000;
const longestDelayMs = 60_000;

/** How long a run rests that its worker gave back with nothing done: twice as long each time that it was delivered. */
export function restAfterFailure(attempt: number): number {
  return Math.min(firstDelayMs * 2 ** Math.max(0, attempt - 1), longestDelayMs);
}
