import { expect, test } from "vitest";
import { addTallies, describeTally, tallyOf } from "./test-tally.ts";

const report = {
  numPassedTests: 7,
  numFailedTests: 0,
  numPendingTests: 2,
  numTodoTests: 1,
  testResults: [{ status: "passed", assertionResults: [{}] }],
};

test("counts what a report says", () => {
  expect(tallyOf(report, 0)).toEqual({ passed: 7, failed: 0, skipped: 3 });
});

test("counts a file that could not be loaded as a failed test", () => {
  const broken = { ...report, testResults: [{ status: "failed", assertionResults: [] }] };
  expect(tallyOf(broken, 1).failed).toBe(1);
});

test("never calls a runner that failed a success", () => {
  expect(tallyOf(report, 1).failed).toBe(1);
  expect(tallyOf(undefined, 0).failed).toBe(1);
});

test("sums suites into one line", () => {
  const total = addTallies([tallyOf(report, 0), { passed: 1, failed: 2, skipped: 0 }]);
  expect(describeTally(total)).toBe("8 passed, 2 failed, 3 skipped");
});
