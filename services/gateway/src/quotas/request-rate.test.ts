import { expect, test } from "vitest";
import { RequestRate } from "./request-rate.ts";

/** A rate with a clock that the test sets. */
function rateAt() {
  const clock = { ms: 0, now: () => clock.ms };
  return { clock, rate: new RequestRate(clock) };
}

test("accepts the requests of two seconds at once, and then as many as the rate allows", () => {
  const { clock, rate } = rateAt();
  const burst = Array.from({ length: 25 }, () => rate.take("a", 10));
  expect(burst.filter((waitMs) => waitMs === 0)).toHaveLength(20);
  expect(burst.at(-1)).toBe(100);
  clock.ms = 100;
  expect([rate.take("a", 10), rate.take("a", 10)]).toEqual([0, 100]);
});

test("a rate below one accepts single requests", () => {
  const { clock, rate } = rateAt();
  expect([rate.take("a", 0.1), rate.take("a", 0.1)]).toEqual([0, 10_000]);
  clock.ms = 10_000;
  expect(rate.take("a", 0.1)).toBe(0);
});

test("a count does not change another", () => {
  const { rate } = rateAt();
  for (let request = 0; request < 20; request++) rate.take("a", 10);
  expect(rate.take("a", 10)).toBeGreaterThan(0);
  expect(rate.take("b", 10)).toBe(0);
});

test("drops counts that are full again, and no others", () => {
  const { clock, rate } = rateAt();
  for (let count = 0; count <= 10_000; count++) rate.take(`idle-${count}`, 1);
  clock.ms = 10_000;
  while (rate.take("busy", 1) === 0);
  rate.take("another", 1);
  expect(rate.take("busy", 1)).toBeGreaterThan(0);
});
