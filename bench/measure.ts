/** Returns the median. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Returns the quantile for a share from 0 to 1. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Executes `work` several times, one after another, before the measurement. */
export async function warmUp(times: number, work: () => unknown): Promise<void> {
  for (let turn = 0; turn < times; turn++) await work();
}

/** Returns the durations of `times` sequential executions of `work`, in milliseconds. */
export async function timesOf(times: number, work: () => unknown): Promise<readonly number[]> {
  const durations: number[] = [];
  for (let turn = 0; turn < times; turn++) {
    const startedAt = performance.now();
    await work();
    durations.push(performance.now() - startedAt);
  }
  return durations;
}

/** Returns the number of executions of `work` per second, over `total` executions with the given concurrency. */
export async function rateOf(
  total: number,
  concurrency: number,
  work: () => Promise<unknown>,
): Promise<number> {
  let left = total;
  const startedAt = performance.now();
  const lane = async () => {
    while (left-- > 0) await work();
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  return total / ((performance.now() - startedAt) / 1_000);
}
