import { expect, test } from "vitest";
import { lineDifference } from "./line-difference.ts";

const shown = (before: string, after: string) =>
  lineDifference(before, after).map(({ sign, line }) => `${sign}${line}`);

test("lines that both texts have appear once, in order", () => {
  expect(shown("a\nb\nc\nd", "a\nx\nc\nd\ne")).toEqual([" a", "-b", "+x", " c", " d", "+e"]);
  expect(shown("a", "a")).toEqual([" a"]);
});

test("texts that are too long to compare are shown whole", () => {
  const long = Array.from({ length: 1_001 }, (_, index) => String(index)).join("\n");
  expect(lineDifference(long, long)).toHaveLength(2_002);
});
