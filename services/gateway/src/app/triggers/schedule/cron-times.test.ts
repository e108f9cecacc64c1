import { expect, test } from "vitest";
import { cronTimes, isTimeZone } from "./cron-times.ts";

/** Returns the next times after a moment. */
function timesAfter(cron: string, zone: string, after: string, count: number): readonly string[] {
  const { next } = cronTimes(cron, zone);
  const found: string[] = [];
  let at = next(Date.parse(after));
  while (at !== undefined && found.length < count) {
    found.push(new Date(at).toISOString());
    at = next(at);
  }
  return found;
}

test("an expression without a time zone is in UTC", () => {
  expect(timesAfter("30 8 * * 1-5", "", "2026-11-27T08:30:00Z", 2)).toEqual([
    "2026-11-30T08:30:00.000Z",
    "2026-12-01T08:30:00.000Z",
  ]);
});

test("a local time keeps its hour over a change of the clock", () => {
  expect(timesAfter("0 9 * * *", "Europe/Berlin", "2026-03-27T12:00:00Z", 3)).toEqual([
    "2026-03-28T08:00:00.000Z",
    "2026-03-29T07:00:00.000Z",
    "2026-03-30T07:00:00.000Z",
  ]);
});

// Requirement: TRIG-2
test("a local time that the clock skips fires once, right after the change", () => {
  // In Berlin, 02:30 does not exist on 29 March 2026: the clock goes from 02:00 to 03:00.
  expect(timesAfter("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 2)).toEqual([
    "2026-03-29T01:00:00.000Z",
    "2026-03-30T00:30:00.000Z",
  ]);
});

// Requirement: TRIG-2
test("a local time that the clock repeats fires once", () => {
  // In New York, 01:30 exists twice on 1 November 2026.
  expect(timesAfter("30 1 * * *", "America/New_York", "2026-10-31T12:00:00Z", 2)).toEqual([
    "2026-11-01T05:30:00.000Z",
    "2026-11-02T06:30:00.000Z",
  ]);
});

test("every minute of a repeated hour fires, if the hour is not named", () => {
  const fired = timesAfter("0,30 * * * *", "America/New_York", "2026-11-01T04:45:00Z", 4);
  expect(fired).toEqual([
    "2026-11-01T05:00:00.000Z",
    "2026-11-01T05:30:00.000Z",
    "2026-11-01T06:00:00.000Z",
    "2026-11-01T06:30:00.000Z",
  ]);
});

// Requirement: TRIG-2
test.each([
  ["30 0-3 * * *", ["04:30", "05:30", "06:30", "07:30"]],
  ["30 1,2 * * *", ["05:30", "06:30", "07:30"]],
  ["0,30 1 * * *", ["05:00", "05:30", "06:00", "06:30"]],
])("%s fires twice in a repeated hour, because it has several minutes or hours", (cron, times) => {
  const fired = timesAfter(cron, "America/New_York", "2026-11-01T04:00:00Z", times.length);
  expect(fired).toEqual(times.map((time) => `2026-11-01T${time}:00.000Z`));
});

test("either of two restricted days suffices", () => {
  expect(timesAfter("0 0 13 * 5", "", "2026-11-01T00:00:00Z", 3)).toEqual([
    "2026-11-06T00:00:00.000Z",
    "2026-11-13T00:00:00.000Z",
    "2026-11-20T00:00:00.000Z",
  ]);
});

test("a day that no month has never comes", () => {
  expect(timesAfter("0 0 30 2 *", "", "2026-11-01T00:00:00Z", 1)).toEqual([]);
});

test.each(["* * * * * *", "@daily", "", "99 * * * *", "a b c d e"])("%j is refused", (cron) => {
  expect(() => cronTimes(cron, "")).toThrow(Error);
});

test("only names of time zones are accepted", () => {
  expect(["", "UTC", "Europe/Lisbon", "Mars/Base", "+01:00"].map(isTimeZone)).toEqual([
    true,
    true,
    true,
    false,
    false,
  ]);
});
