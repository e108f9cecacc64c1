import { expect, test } from "vitest";
import { Backoff, delayAfter } from "./backoff.ts";

const options = { firstDelayMs: 100, maxDelayMs: 1_000 };

test("doubles the delay with each failure, up to the cap", () => {
  const delays = [1, 2, 3, 4, 5, 6].map((failures) => delayAfter(failures, options));
  expect(delays).toEqual([100, 200, 400, 800, 1_000, 1_000]);
});

test("does not overflow after very many failures", () => {
  expect(delayAfter(100_000, options)).toBe(1_000);
  expect(delayAfter(100_000, { firstDelayMs: 0, maxDelayMs: 1_000 })).toBe(0);
});

test("takes no failure like the first", () => {
  expect(delayAfter(0, options)).toBe(100);
});

test("takes the jitter off the delay, and never adds to it", () => {
  const jittered = { ...options, jitter: 0.5 };
  expect(delayAfter(2, jittered, () => 0)).toBe(200);
  expect(delayAfter(2, jittered, () => 0.5)).toBe(150);
  expect(delayAfter(9, jittered, () => 1)).toBe(500);
});

test("starts again after a success", () => {
  const backoff = new Backoff(options);
  expect([backoff.next(), backoff.next(), backoff.failures]).toEqual([100, 200, 2]);
  backoff.reset();
  expect([backoff.failures, backoff.next()]).toEqual([0, 100]);
});

test("waits at least as long as it is asked to", () => {
  const backoff = new Backoff(options);
  expect([backoff.next(5_000), backoff.next(50)]).toEqual([5_000, 200]);
});
