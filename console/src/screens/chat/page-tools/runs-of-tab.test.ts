import { expect, test } from "vitest";
import { runsAfter, runsOf } from "./runs-of-tab.ts";

test("a tab offers its tools to the runs that it started, and forgets the oldest of many", () => {
  expect(runsOf(null)).toEqual([]);
  expect(runsOf(runsAfter(runsAfter(runsAfter(null, "run_1"), "run_2"), "run_1"))).toEqual([
    "run_2",
    "run_1",
  ]);
  let stored: string | null = null;
  for (let index = 1; index <= 60; index++) stored = runsAfter(stored, `run_${index}`);
  expect(runsOf(stored)).toHaveLength(50);
  expect(runsOf(stored).at(-1)).toBe("run_60");
});
