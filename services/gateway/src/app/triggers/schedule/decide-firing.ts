import { createHash } from "node:crypto";
import type { CronTimes } from "./cron-times.ts";
import { OnMissed } from "@reeve/contracts/trigger";

/** How late a firing may be without being missed: the restart of a gateway misses none. */
const graceMs = 60_000;
/** How many missed times are counted. */
const maxCounted = 1_000;
/** How many of them are kept: one more than can start a run. */
const maxKept = 101;
/** How many missed times start a run if the schedule does not say. */
const defaultMaxMissed = 10;
/** The minimum distance of two times of a cron expression. */
const minuteMs = 60_000;

/** A schedule, and its next time. */
export interface DueSchedule {
  readonly uid: string;
  readonly times: CronTimes;
  readonly nextMs: number;
  readonly jitterMs: number;
  readonly onMissed: OnMissed;
  readonly maxMissed: number;
}

/** What happens at a moment. Times are in milliseconds since the epoch. */
export interface FiringDecision {
  /** The time that starts a run. Undefined: none. */
  readonly fireMs: number | undefined;
  /** The times before it that start none. Undefined: there are none. */
  readonly missed: { readonly count: number; readonly lastMs: number } | undefined;
  /** The next time. Undefined: the schedule has no further one. */
  readonly nextMs: number | undefined;
}

/**
 * Decides what a schedule does at a moment. Undefined: nothing is due. A pure function, so that all gateways decide the same;
 * after a jump of the clock to the past nothing is due, because the next time does not decrease.
 */
export function decideFiring(schedule: DueSchedule, nowMs: number): FiringDecision | undefined {
  const { uid, times, nextMs, jitterMs, onMissed } = schedule;
  const isDue = (timeMs: number) => timeMs + jitterOf(uid, timeMs, jitterMs) <= nowMs;
  if (!isDue(nextMs)) return undefined;
  const { due, count } = dueTimes(schedule, isDue, nowMs);
  const latest = due.at(-1) ?? nextMs;
  const isLate = nowMs - (latest + jitterOf(uid, latest, jitterMs)) > graceMs;
  const fired = firedOf(due, { onMissed, maxMissed: schedule.maxMissed, isLate });
  const [fireMs] = fired;
  const missedCount = Math.min(maxCounted, count - fired.length);
  // The times that start a run are the last ones.
  const lastMissedMs = fireMs === undefined ? latest : due[due.length - fired.length - 1];
  const missed =
    missedCount <= 0 ? undefined : { count: missedCount, lastMs: lastMissedMs ?? nextMs };
  return { fireMs, missed, nextMs: times.next(fireMs ?? latest) };
}

/** Returns the delay of a firing, in milliseconds: less than `maxMs`, and always the same for the same time. */
export function jitterOf(uid: string, timeMs: number, maxMs: number): number {
  if (maxMs <= 0) return 0;
  const digest = createHash("sha256").update(`${uid} ${timeMs}`).digest();
  return Math.floor((digest.readUInt32BE(0) / 2 ** 32) * maxMs);
}

function firedOf(
  due: readonly number[],
  {
    onMissed,
    maxMissed,
    isLate,
  }: Pick<DueSchedule, "onMissed" | "maxMissed"> & { isLate: boolean },
): readonly number[] {
  if (onMissed === OnMissed.ALL)
    return due.slice(-(maxMissed === 0 ? defaultMaxMissed : maxMissed));
  if (onMissed === OnMissed.ONCE || !isLate) return due.slice(-1);
  return [];
}

/** Returns the last due times, oldest first, with one more than may start a run, and how many there are in all. */
function dueTimes(
  { times, nextMs, onMissed, maxMissed }: DueSchedule,
  isDue: (timeMs: number) => boolean,
  nowMs: number,
): Listed {
  const all = listTimes(times, nextMs, isDue, maxCounted);
  if (all.isWhole) return all;
  const kept = onMissed === OnMissed.ALL ? (maxMissed || defaultMaxMissed) + 1 : 2;
  const due: number[] = [];
  let timeMs = lastBefore(times, nextMs, nowMs + 1);
  // A jitter may delay the last ones.
  while (timeMs > nextMs && !isDue(timeMs)) timeMs = lastBefore(times, nextMs, timeMs);
  for (; due.length < kept && timeMs > nextMs; timeMs = lastBefore(times, nextMs, timeMs)) {
    due.unshift(timeMs);
  }
  return { ...all, due, count: maxCounted };
}

/**
 * Returns the last time of a schedule before `endMs`, if it is after `firstMs`, which is a time of the schedule; otherwise `firstMs`.
 * Asks for a number of times that does not depend on how many there are.
 */
function lastBefore(times: CronTimes, firstMs: number, endMs: number): number {
  const isBefore = (timeMs: number | undefined) => timeMs !== undefined && timeMs < endMs;
  // There is a time after `low` and before the end, and none after `high`.
  let low = firstMs;
  let high = endMs;
  for (let stepMs = minuteMs; endMs - stepMs > firstMs; stepMs *= 2) {
    if (isBefore(times.next(endMs - stepMs))) {
      low = endMs - stepMs;
      break;
    }
    high = endMs - stepMs;
  }
  while (high - low > minuteMs) {
    const middle = Math.floor((low + high) / 2);
    if (isBefore(times.next(middle))) low = middle;
    else high = middle;
  }
  const found = times.next(low);
  return found !== undefined && found < endMs ? found : firstMs;
}

interface Listed {
  readonly due: readonly number[];
  readonly count: number;
  readonly isWhole: boolean;
}

function listTimes(
  times: CronTimes,
  firstMs: number,
  isDue: (timeMs: number) => boolean,
  max: number,
): Listed {
  const due: number[] = [];
  let count = 0;
  for (let timeMs: number | undefined = firstMs; timeMs !== undefined && isDue(timeMs);) {
    if (count === max) return { due, count, isWhole: false };
    count += 1;
    due.push(timeMs);
    if (due.length > maxKept) due.shift();
    timeMs = times.next(timeMs);
  }
  return { due, count, isWhole: true };
}
