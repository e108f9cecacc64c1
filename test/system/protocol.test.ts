import { expect, test } from "vitest";
import { explore, walkRandomly } from "../unit/protocol/explore.ts";
import { longScenarios, smallScenarios, wideScenarios } from "../unit/protocol/scenarios.ts";

const maxWalks = 400;

test.each([...smallScenarios, ...longScenarios])(
  "a run keeps all rules in worlds with a fault: %s",
  async (_, scenario) => {
    const { worlds, isAll } = await explore(() => scenario(), { faults: 1, worlds: maxWalks });
    expect(isAll || worlds >= maxWalks).toBe(true);
  },
);

test.each(longScenarios)(
  "a run keeps all rules in every order of acts: %s",
  async (_, scenario) => {
    const { isAll } = await explore(() => scenario(), { faults: 0, worlds: 1_000 });
    expect(isAll).toBe(true);
  },
);

test.each(wideScenarios)(
  "a run keeps all rules with many faults: %s",
  async (_, scenario) => {
    for (const faults of [1, 2, 4, 6]) {
      const { worlds } = await walkRandomly(() => scenario(), {
        faults,
        walks: 150,
        seed: 100 + faults,
      });
      expect(worlds).toBeGreaterThan(200);
    }
  },
  300_000,
);
