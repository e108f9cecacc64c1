import { expect, test } from "vitest";
import { foldInSlices } from "./fold-in-slices.ts";

const never = new AbortController().signal;
const numbers = Array.from({ length: 5_000 }, (_, index) => index);
const sum = (before: number, slice: readonly number[]) =>
  slice.reduce((total, each) => total + each, before);

test("a fold in slices is the fold of all items, and lets other work run meanwhile", async () => {
  let turns = 0;
  let isDone = false;
  const other = () => {
    turns += 1;
    if (!isDone) setImmediate(other);
  };
  setImmediate(other);
  expect(await foldInSlices(0, numbers, sum, never)).toBe(sum(0, numbers));
  isDone = true;
  expect(turns).toBeGreaterThanOrEqual(5);
});

test("a short fold does not wait for other work", async () => {
  let hasRun = false;
  setImmediate(() => {
    hasRun = true;
  });
  expect(await foldInSlices(0, [1, 2, 3], sum, never)).toBe(6);
  expect(await foldInSlices(7, [], sum, never)).toBe(7);
  expect(hasRun).toBe(false);
});

test("a fold that is aborted ends", async () => {
  const end = new AbortController();
  const folding = foldInSlices(0, numbers, sum, end.signal);
  end.abort(new Error("enough"));
  await expect(folding).rejects.toThrow("enough");
});
