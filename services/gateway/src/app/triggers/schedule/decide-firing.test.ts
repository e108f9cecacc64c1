import { OnMissed } from "@reeve/contracts/trigger";
import { expect, test } from "vitest";
import { cronTimes } from "./cron-times.ts";
import type { DueSchedule } from "./decide-firing.ts";
import { decideFiring, jitterOf } from "./decide-firing.ts";

const hourMs = 3_600_000;
const startMs = Date.parse("2026-11-27T10:00:00Z");

/** A schedule of every hour whose next time is 10:00. */
function hourly(changes: Partial<DueSchedule> = {}): DueSchedule {
  const times = cronTimes("0 * * * *", "");
  const none = { jitterMs: 0, onMissed: OnMissed.UNSPECIFIED, maxMissed: 0 };
  return { uid: "u", times, nextMs: startMs, ...none, ...changes };
}

test("nothing is due before the time, also if the clock jumps back", () => {
  expect(decideFiring(hourly(), startMs - 1)).toBeUndefined();
  expect(decideFiring(hourly(), startMs - 100 * hourMs)).toBeUndefined();
});

test("a time fires at once, and up to a minute later", () => {
  const fired = { fireMs: startMs, missed: undefined, nextMs: startMs + hourMs };
  expect(decideFiring(hourly(), startMs)).toEqual(fired);
  expect(decideFiring(hourly(), startMs + 60_000)).toEqual(fired);
});

test("missed times are skipped, and the one that is on time fires", () => {
  expect(decideFiring(hourly(), startMs + 3 * hourMs + 60_001)).toEqual({
    fireMs: undefined,
    missed: { count: 4, lastMs: startMs + 3 * hourMs },
    nextMs: startMs + 4 * hourMs,
  });
  expect(decideFiring(hourly(), startMs + 3 * hourMs)).toEqual({
    fireMs: startMs + 3 * hourMs,
    missed: { count: 3, lastMs: startMs + 2 * hourMs },
    nextMs: startMs + 4 * hourMs,
  });
});

test("the last of several missed times fires once", () => {
  expect(decideFiring(hourly({ onMissed: OnMissed.ONCE }), startMs + 3.5 * hourMs)).toEqual({
    fireMs: startMs + 3 * hourMs,
    missed: { count: 3, lastMs: startMs + 2 * hourMs },
    nextMs: startMs + 4 * hourMs,
  });
});

test("all missed times fire in their order, up to the maximum", () => {
  const fired: number[] = [];
  const missed: number[] = [];
  let nextMs: number | undefined = startMs;
  for (;;) {
    const schedule = hourly({ onMissed: OnMissed.ALL, maxMissed: 3, nextMs });
    const decision = decideFiring(schedule, startMs + 9.5 * hourMs);
    if (decision === undefined) break;
    if (decision.fireMs !== undefined) fired.push((decision.fireMs - startMs) / hourMs);
    if (decision.missed !== undefined) missed.push(decision.missed.count);
    nextMs = decision.nextMs ?? 0;
  }
  expect({ fired, missed, next: (nextMs - startMs) / hourMs }).toEqual({
    fired: [7, 8, 9],
    missed: [7],
    next: 10,
  });
});

test("years of missed minutes are counted up to a limit", () => {
  const times = cronTimes("* * * * *", "");
  const nowMs = startMs + 400 * 24 * hourMs + 70_000;
  const schedule = hourly({ times, onMissed: OnMissed.ONCE });
  expect(decideFiring(schedule, nowMs)).toMatchObject({
    fireMs: nowMs - 10_000,
    missed: { count: 999 },
    nextMs: nowMs + 50_000,
  });
});

// Requirement: TRIG-2
test.each([
  ["* * * 1 *", "2026-01-31T23:59:00.000Z"],
  ["*/2 * * * *", "2026-03-31T23:58:00.000Z"],
  ["0 0-23 1-7 * *", "2026-03-07T23:00:00.000Z"],
])("the last of any number of missed times of %s fires once", (cron, last) => {
  const times = cronTimes(cron, "");
  let asked = 0;
  const counted = { next: (afterMs: number) => ((asked += 1), times.next(afterMs)) };
  const nextMs = Date.parse("2020-01-01T00:00:00Z");
  const schedule = hourly({ times: counted, nextMs, onMissed: OnMissed.ONCE });
  const nowMs = Date.parse("2026-03-31T23:59:59Z");
  const decision = decideFiring(schedule, nowMs);
  expect(new Date(decision?.fireMs ?? 0).toISOString()).toBe(last);
  expect(asked).toBeLessThan(1_200);
  const after = { ...schedule, nextMs: decision?.nextMs ?? 0 };
  expect(decideFiring(after, nowMs)).toBeUndefined();
});

// Requirement: TRIG-2
test("the latest of any number of missed times fire in their order", () => {
  const times = cronTimes("* * * 1 *", "");
  const nextMs = Date.parse("2026-01-01T00:00:00Z");
  const nowMs = Date.parse("2026-06-01T00:00:00Z");
  const fired: string[] = [];
  let schedule = hourly({ times, nextMs, onMissed: OnMissed.ALL, maxMissed: 3 });
  for (;;) {
    const decision = decideFiring(schedule, nowMs);
    if (decision?.nextMs === undefined) break;
    fired.push(new Date(decision.fireMs ?? 0).toISOString().slice(11, 16));
    schedule = { ...schedule, nextMs: decision.nextMs };
  }
  expect(fired).toEqual(["23:57", "23:58", "23:59"]);
});

test("jitter delays each time by its own amount, which is always the same", () => {
  const maxMs = 600_000;
  const delays = [0, 1, 2, 3, 4].map((hour) => jitterOf("u", startMs + hour * hourMs, maxMs));
  expect(delays).toEqual(
    [0, 1, 2, 3, 4].map((hour) => jitterOf("u", startMs + hour * hourMs, maxMs)),
  );
  expect(new Set(delays).size).toBe(5);
  for (const delay of delays) expect(delay).toBeLessThan(maxMs);
  const [delayMs = 0] = delays;
  const schedule = hourly({ jitterMs: maxMs });
  expect(decideFiring(schedule, startMs + delayMs - 1)).toBeUndefined();
  expect(decideFiring(schedule, startMs + delayMs)).toMatchObject({ fireMs: startMs });
});
