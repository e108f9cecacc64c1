import { expect, test } from "vitest";
import { neverAborts } from "../never-aborts.ts";
import { ByteBudget } from "./byte-budget.ts";

test("parties of an owner wait until there are enough bytes, in the order in which they came", async () => {
  const budget = new ByteBudget(20);
  const first = await budget.acquire("acme", 6, neverAborts);
  const order: string[] = [];
  const large = budget.acquire("acme", 8, neverAborts).then((held) => (order.push("large"), held));
  const small = budget.acquire("acme", 1, neverAborts).then((held) => (order.push("small"), held));
  expect(budget.waiting).toBe(2);
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  for (const held of [await large, await small]) held[Symbol.dispose]();
  expect(order).toEqual(["large", "small"]);
  expect(budget.available).toBe(20);
});

test("a party that needs more than all bytes gets all of them", async () => {
  const budget = new ByteBudget(10);
  using _ = await budget.acquire("acme", 1_000, neverAborts);
  expect(budget.available).toBe(0);
});

test("an owner has at most half, and others do not wait behind it", async () => {
  const budget = new ByteBudget(10);
  using _ = await budget.acquire("acme", 5, neverAborts);
  const leaving = new AbortController();
  const behind = budget.acquire("acme", 1, leaving.signal);
  using other = await budget.acquire("globex", 5, neverAborts);
  expect([budget.available, budget.waiting, other]).toEqual([0, 1, other]);
  leaving.abort(new Error("left"));
  await expect(behind).rejects.toThrow("left");
});

test("a large party of one owner is not overtaken by small ones of others", async () => {
  const budget = new ByteBudget(10);
  const first = await budget.acquire("acme", 5, neverAborts);
  using _ = await budget.acquire("globex", 2, neverAborts);
  const order: string[] = [];
  const large = budget.acquire("initech", 5, neverAborts).then((held) => (order.push("l"), held));
  const small = budget.acquire("hooli", 1, neverAborts).then((held) => (order.push("s"), held));
  first[Symbol.dispose]();
  for (const held of [await large, await small]) held[Symbol.dispose]();
  expect(order).toEqual(["l", "s"]);
});

test("a party that gives up lets those behind it in", async () => {
  const budget = new ByteBudget(12);
  using first = await budget.acquire("acme", 5, neverAborts);
  using second = await budget.acquire("globex", 4, neverAborts);
  const leaving = new AbortController();
  const left = budget.acquire("initech", 5, leaving.signal);
  const next = budget.acquire("hooli", 2, neverAborts);
  leaving.abort(new Error("left"));
  await expect(left).rejects.toThrow("left");
  using following = await next;
  expect(budget.available).toBe(1);
  for (const held of [first, second, following]) held[Symbol.dispose]();
  expect(budget.available).toBe(12);
});
