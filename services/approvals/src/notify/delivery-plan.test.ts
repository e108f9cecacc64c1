import * as fc from "fast-check";
import { expect, test } from "vitest";
import { delayBeforeRetry } from "./delivery-plan.ts";

const limits = {
  firstDelayMs: 5_000,
  maxDelayMs: 3_600_000,
  giveUpMs: 3 * 24 * 3_600_000,
  maxRefusals: 5,
};
const failed = { kind: "unavailable", problem: "down" } as const;
const fresh = { attempt: 1, ageMs: 0, refusals: 0 };

test("delays double from seconds to an hour", () => {
  const delays = [1, 2, 3, 9, 10, 11, 12, 500].map((attempt) =>
    delayBeforeRetry(failed, { ...fresh, attempt }, limits, () => 0),
  );
  expect(delays.map((ms = 0) => ms / 1_000)).toEqual([
    5, 10, 20, 1_280, 2_560, 3_600, 3_600, 3_600,
  ]);
});

test("half of a delay is random", () => {
  expect(delayBeforeRetry(failed, fresh, limits, () => 0.999)).toBeCloseTo(2_502.5, 0);
});

test("a receiver may ask for more patience, up to the longest delay", () => {
  const delays = [1, 60_000, 1e12].map((retryAfterMs) =>
    delayBeforeRetry({ ...failed, retryAfterMs }, fresh, limits, () => 0),
  );
  expect(delays).toEqual([5_000, 60_000, 3_600_000]);
});

test("a receiver that is unreachable for a day is tried at least once an hour, and gets everything", () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 0.999, noNaN: true }), (random) => {
      let ageMs = 0;
      for (let attempt = 1; ageMs < 24 * 3_600_000; attempt++) {
        const delayMs = delayBeforeRetry(
          failed,
          { attempt, ageMs, refusals: 0 },
          limits,
          () => random,
        );
        expect(delayMs).toBeGreaterThan(0);
        expect(delayMs).toBeLessThanOrEqual(3_600_000);
        ageMs += delayMs ?? Infinity;
      }
      expect(ageMs).toBeLessThan(limits.giveUpMs);
    }),
  );
});

test("gives up at the limit of time, or of refusals in a row", () => {
  expect(delayBeforeRetry(failed, { ...fresh, ageMs: limits.giveUpMs }, limits)).toBeUndefined();
  expect(delayBeforeRetry(failed, { ...fresh, refusals: 5 }, limits)).toBeUndefined();
  expect(delayBeforeRetry(failed, { ...fresh, refusals: 4 }, limits)).toBeDefined();
});
