/** The middle of some figures. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** The figure below which that share of all figures is. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Does `work` a number of times, one after the other, before anything is measured. */
export async function warmUp(times: number, work: () => unknown): Promise<void> {
  for (let turn = 0; turn < times; turn++) await work();
}

/** How long each of `times` turns of `work` takes, one after the other, in milliseconds. */
export async function timesOf(times: number, work: () => unknown): Promise<readonly number[]> {
  const durations: number[] = [];
  for (let turn = 0; turn < times; turn++) {
    const startedAt = performance.now();
    await work();
    durations.push(performance.now() - startedAt);
  }
  return durations;
}

/** How many of `total` turns of `work` are done a second, with `concurrency` under way at a time. */
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
