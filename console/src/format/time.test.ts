import { expect, test } from "vitest";
import { formatAgo, formatDuration } from "./time.ts";

test.each([
  [840, "840 ms"],
  [4_210, "4.2 s"],
  [200_000, "3 min 20 s"],
  [7_500_000, "2 h 5 min"],
  [273_600_000, "3 d 4 h"],
])("%d ms are formatted as %s", (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

test("times are relative to now, in both directions", () => {
  expect(formatAgo(0, 2_000)).toBe("now");
  expect(formatAgo(0, 12_000)).toBe("12 s ago");
  expect(formatAgo(3 * 3_600_000, 0)).toBe("in 3 h");
});
