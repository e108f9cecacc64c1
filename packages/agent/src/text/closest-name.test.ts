import { expect, test } from "vitest";
import { closestName } from "./closest-name.ts";

const names = ["csv-report", "release-check", "run_command"];

test.each([
  ["csv-reprt", "csv-report"],
  ["CSV-Report", "csv-report"],
  ["relase-chek", "release-check"],
  ["run_comand", "run_command"],
  ["weather", undefined],
  ["", undefined],
  ["x".repeat(1_000), undefined],
])("the name closest to %s is %s", (given, closest) => {
  expect(closestName(given, names)).toBe(closest);
});
