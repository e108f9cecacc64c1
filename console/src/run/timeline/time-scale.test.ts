import { expect, test } from "vitest";
import { timeScale } from "./time-scale.ts";

const hour = 3_600_000;

test("a wait of an hour takes a small part of a timeline with a second of work", () => {
  const { segments, place } = timeScale(
    [
      { startMs: 0, endMs: 500 },
      { startMs: hour, endMs: hour + 500 },
    ],
    0,
    hour + 500,
  );
  expect(segments.map(({ isIdle }) => isIdle)).toEqual([false, true, false]);
  const [, wait] = segments;
  expect((wait?.to ?? 1) - (wait?.from ?? 0)).toBeLessThan(0.06);
  expect(place(0)).toBe(0);
  expect(place(hour + 500)).toBeCloseTo(1);
  expect(place(500)).toBeLessThan(place(hour));
});

test("work at the same time counts once", () => {
  const { segments } = timeScale(
    [
      { startMs: 0, endMs: 100 },
      { startMs: 50, endMs: 200 },
    ],
    0,
    200,
  );
  expect(segments).toEqual([{ startMs: 0, endMs: 200, from: 0, to: 1, isIdle: false }]);
});

test("a run without work has a scale", () => {
  expect(timeScale([], 5, 5).place(5)).toBe(0);
});
