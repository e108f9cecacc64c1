import process from "node:process";
import { expect, test } from "vitest";
import { explore, walkRandomly } from "../unit/protocol/explore.ts";
import { longScenarios, smallScenarios, wideScenarios } from "../unit/protocol/scenarios.ts";

/** The nightly run walks further, along other paths every night. */
const isNightly = process.env["REEVE_SEED"] === "random";
const maxWorlds = isNightly ? 2_000 : 250;
const walks = isNightly ? 500 : 30;
const firstSeed = isNightly ? Math.floor(Math.random() * 2 ** 31) : 100;

test.each([...smallScenarios, ...longScenarios])(
  "a run keeps all rules in worlds with a fault: %s",
  async (_, scenario) => {
    const { worlds, isAll } = await explore(() => scenario(), { faults: 1, worlds: maxWorlds });
    expect(isAll || worlds >= maxWorlds).toBe(true);
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
      const seed = firstSeed + faults;
      const { worlds } = await walkRandomly(() => scenario(), { faults, walks, seed });
      expect(worlds).toBeGreaterThan(2 * walks);
    }
  },
  isNightly ? 1_800_000 : 300_000,
);
