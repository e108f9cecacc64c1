import type { CountRunsResponse } from "@reeve/contracts/run";
import { msOf } from "../../../format/time.ts";
import type { RunsSearch } from "../runs-search.ts";
import { maxAgeMs } from "../runs-search.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** How many bars the chart has at least and at most. */
const minBars = 24;
const maxBars = 60;

/** What a bar of the chart shows. */
export interface Bar {
  readonly startMs: number;
  readonly runs: number;
  readonly failed: number;
  readonly costUsd: number;
}

/** Returns the length of a bar: so that the chosen time has 24 to 60 of them. */
export function intervalOf(search: RunsSearch): number {
  const ageMs = maxAgeMs(search);
  if (ageMs === undefined) return dayMs;
  if (ageMs <= hourMs) return minuteMs;
  return ageMs <= dayMs ? 30 * minuteMs : ageMs <= 7 * dayMs ? 6 * hourMs : dayMs;
}

/**
 * Returns the bars from the first interval with runs, or the chosen start, up to now, and earlier ones if these are few. Intervals
 * without runs have empty bars.
 */
export function barsOf(
  intervals: CountRunsResponse["intervals"],
  { intervalMs, fromMs, nowMs }: { intervalMs: number; fromMs: number | undefined; nowMs: number },
): readonly Bar[] {
  const startOf = (ms: number) => ms - (ms % intervalMs);
  const filled = new Map(intervals.map((each) => [msOf(each.start) ?? 0, each]));
  const lastMs = Math.max(startOf(nowMs), ...filled.keys());
  const firstMs = Math.min(lastMs, fromMs ?? Math.min(lastMs, ...filled.keys()));
  const wanted = (lastMs - startOf(firstMs)) / intervalMs + 1;
  const count = Math.min(maxBars, Math.max(minBars, wanted));
  return Array.from({ length: count }, (_, index) => {
    const startMs = lastMs - (count - 1 - index) * intervalMs;
    const { runs = 0, failed = 0, costUsd = 0 } = filled.get(startMs) ?? {};
    return { startMs, runs, failed, costUsd };
  });
}
