import { expect, test } from "vitest";
import { rememberLast } from "./remember-last.ts";

test("the same items have one value, and other items another", () => {
  const [a, b] = [{ n: 1 }, { n: 2 }];
  let items = [a, b];
  const sum = rememberLast(
    () => [...items],
    (all) => ({ sum: all.reduce((total, { n }) => total + n, 0) }),
  );
  const first = sum();
  expect(first).toEqual({ sum: 3 });
  expect(sum()).toBe(first);
  items = [a, { n: 2 }];
  expect(sum()).not.toBe(first);
  items = [a];
  expect(sum()).toEqual({ sum: 1 });
});
