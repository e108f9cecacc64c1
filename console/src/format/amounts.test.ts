import { expect, test } from "vitest";
import { formatCount } from "./amounts.ts";

test("a count has a comma for each thousand, and at most three digits of a fraction", () => {
  expect([0, 999, 1_000, 1_234_567, -12_345, 1234.56789, 0.1 + 0.2].map(formatCount)).toEqual([
    "0",
    "999",
    "1,000",
    "1,234,567",
    "-12,345",
    "1,234.568",
    "0.3",
  ]);
});
