import { describe, expect, test } from "vitest";
import { explore, wander } from "./explore.ts";
import { longScenarios, smallScenarios, wideScenarios } from "./scenarios.ts";

/** Long enough for a machine that has much else to do. */
const patienceMs = 120_000;

describe("whatever the order in which everybody acts", () => {
  test.each(smallScenarios)(
    "a run is well kept: %s",
    async (_, scenario) => {
      const { worlds, isAll } = await explore(() => scenario(), { faults: 0, worlds: 1_000 });
      expect(worlds).toBeGreaterThan(5);
      expect(isAll).toBe(true);
    },
    patienceMs,
  );
});

describe("whoever dies, whatever is lost or comes again", () => {
  // Requirement: HOST-1
  test(
    "a fresh run is well kept, in every world with one fault",
    async () => {
      const [[, scenario]] = smallScenarios;
      const { worlds, ends, isAll } = await explore(() => scenario(), { faults: 1 });
      expect(worlds).toBeGreaterThan(100);
      expect(ends).toBeGreaterThan(5);
      expect(isAll).toBe(true);
    },
    patienceMs,
  );

  test.each([...longScenarios, ...wideScenarios])(
    "a run is well kept, wherever chance leads: %s",
    async (_, scenario) => {
      const { worlds } = await wander(() => scenario(), { faults: 3, walks: 60, seed: 1 });
      expect(worlds).toBeGreaterThan(100);
    },
    patienceMs,
  );
});
