import { expect, test } from "vitest";
import { neverAborts } from "../never-aborts.ts";
import { ByteBudget } from "./byte-budget.ts";

test("parties wait until there are enough bytes, in the order in which they came", async () => {
  const budget = new ByteBudget(10);
  const first = await budget.acquire(6, neverAborts);
  const order: string[] = [];
  const large = budget.acquire(8, neverAborts).then((held) => (order.push("large"), held));
  const small = budget.acquire(1, neverAborts).then((held) => (order.push("small"), held));
  expect(budget.waiting).toBe(2);
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  for (const held of [await large, await small]) held[Symbol.dispose]();
  expect(order).toEqual(["large", "small"]);
  expect(budget.available).toBe(10);
});

test("a party that needs more than all bytes gets all of them", async () => {
  const budget = new ByteBudget(10);
  using _ = await budget.acquire(1_000, neverAborts);
  expect(budget.available).toBe(0);
});

test("a party that gives up lets those behind it in", async () => {
  const budget = new ByteBudget(10);
  using _ = await budget.acquire(6, neverAborts);
  const leaving = new AbortController();
  const left = budget.acquire(8, leaving.signal);
  const next = budget.acquire(2, neverAborts);
  leaving.abort(new Error("left"));
  await expect(left).rejects.toThrow("left");
  using following = await next;
  expect([budget.available, following]).toEqual([2, following]);
});
