import { describe, expect, test } from "vitest";
import { explore, walkRandomly } from "./explore.ts";
import {
  cutOffScenarios,
  expired,
  fresh,
  longScenarios,
  smallScenarios,
  wideScenarios,
} from "./scenarios.ts";

/** Long enough for a busy machine. */
const testTimeoutMs = 120_000;

describe("in every order of acts", () => {
  test.each(smallScenarios)(
    "a run keeps all rules: %s",
    async (_, scenario) => {
      const { worlds, isAll } = await explore(() => scenario(), { faults: 0, worlds: 1_000 });
      expect(worlds).toBeGreaterThan(5);
      expect(isAll).toBe(true);
    },
    testTimeoutMs,
  );
});

describe("with deaths, lost messages, and redeliveries", () => {
  // Requirement: HOST-1
  test.each([["two workers", fresh({})] as const, ["an expiry", expired] as const])(
    "a run keeps all rules in every world with one fault: %s",
    async (_, scenario) => {
      const { worlds, ends, isAll } = await explore(() => scenario(), { faults: 1 });
      expect(worlds).toBeGreaterThan(100);
      expect(ends).toBeGreaterThan(5);
      expect(isAll).toBe(true);
    },
    testTimeoutMs,
  );

  // Requirement: HOST-1
  test.each(cutOffScenarios)(
    "a run keeps all rules in the first orders of acts after a toolhost was cut off: %s",
    async (_, scenario) => {
      const { worlds } = await explore(() => scenario(), { faults: 0, worlds: 400 });
      expect(worlds).toBeGreaterThan(100);
    },
    testTimeoutMs,
  );

  test.each([...longScenarios, ...wideScenarios])(
    "a run keeps all rules in random walks: %s",
    async (_, scenario) => {
      const { worlds } = await walkRandomly(() => scenario(), { faults: 3, walks: 60, seed: 1 });
      expect(worlds).toBeGreaterThan(100);
    },
    testTimeoutMs,
  );
});
