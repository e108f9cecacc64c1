import { expect, test } from "vitest";
import { TextCache } from "./text-cache.ts";

function keptOf(cache: TextCache<number>, ...texts: readonly string[]): readonly string[] {
  return texts.filter((text) => cache.get(text) !== undefined);
}

test("the oldest texts are forgotten when all together have too many characters", () => {
  const cache = new TextCache<number>(10);
  for (const text of ["aaaa", "bbbb", "cc"]) cache.set(text, 1);
  expect(keptOf(cache, "aaaa", "bbbb", "cc")).toEqual(["aaaa", "bbbb", "cc"]);
  cache.set("ddd", 1);
  expect(keptOf(cache, "aaaa", "bbbb", "cc", "ddd")).toEqual(["bbbb", "cc", "ddd"]);
  cache.set("e".repeat(10), 1);
  expect(keptOf(cache, "bbbb", "cc", "ddd", "e".repeat(10))).toEqual(["e".repeat(10)]);
});

test("a text counts once however often it is kept", () => {
  const cache = new TextCache<number>(10);
  cache.set("aaaa", 1);
  for (const value of [1, 2, 3]) cache.set("bbbb", value);
  expect([cache.get("aaaa"), cache.get("bbbb")]).toEqual([1, 3]);
});

test("a text that is too long alone is not kept, and displaces no other", () => {
  const cache = new TextCache<number>(10);
  cache.set("aaaa", 1);
  cache.set("b".repeat(11), 1);
  expect(keptOf(cache, "aaaa", "b".repeat(11))).toEqual(["aaaa"]);
});
