import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { RunIntervalSchema } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import { barsOf, intervalOf } from "./run-intervals.ts";

const hourMs = 3_600_000;
const at = (hour: number, runs: number) =>
  create(RunIntervalSchema, { start: timestampFromMs(hour * hourMs), runs });

test("intervals without runs have empty bars, up to now", () => {
  const bars = barsOf([at(2, 3), at(4, 1)], {
    intervalMs: hourMs,
    fromMs: undefined,
    nowMs: 5.5 * hourMs,
  });
  expect(bars.slice(-4).map(({ startMs, runs }) => [startMs / hourMs, runs])).toEqual([
    [2, 3],
    [3, 0],
    [4, 1],
    [5, 0],
  ]);
});

test("the bars begin where the chosen time begins, and are at least 24 and at most 60", () => {
  const bars = barsOf([], { intervalMs: hourMs, fromMs: 1.5 * hourMs, nowMs: 40 * hourMs });
  expect([bars[0]?.startMs, bars.length]).toEqual([hourMs, 40]);
  const few = barsOf([], { intervalMs: hourMs, fromMs: 39 * hourMs, nowMs: 40 * hourMs });
  expect([few.length, few.at(-1)?.startMs]).toEqual([24, 40 * hourMs]);
  const many = barsOf([at(0, 1)], { intervalMs: hourMs, fromMs: undefined, nowMs: 99 * hourMs });
  expect([many.length, many.at(-1)?.startMs]).toEqual([60, 99 * hourMs]);
});

test("each time to choose has at most 60 bars", () => {
  expect(intervalOf({ since: "1h" })).toBe(60_000);
  expect(intervalOf({ since: "24h" })).toBe(hourMs / 2);
  expect(intervalOf({})).toBe(24 * hourMs);
});
