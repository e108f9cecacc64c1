import { describe, expect, test } from "vitest";
import {
  appendsRegardless,
  callsUnwatched,
  claimsNameNoDelivery,
  claimsNameNoMessage,
  dispatchesAgain,
  journalsRegardless,
  parksWithoutLooking,
  seesNoMessages,
  seesNoRequests,
  sendsNowhere,
  unswept,
  unsweptButForOldReads,
  wakesNobody,
} from "./breakages.ts";
import { Counterexample, explore, wander } from "./explore.ts";
import type { Breakage } from "./play.ts";
import type { Scenario } from "./scenarios.ts";
import { approving, askingAgain, fresh, messaging, parked, repeating } from "./scenarios.ts";

/** What the exploration says of a broken protocol. */
async function counterexampleOf(
  scenario: Scenario,
  breakage: Breakage,
  faults: number,
): Promise<string> {
  const setUp = () => scenario(breakage);
  try {
    if (faults === 0) await explore(setUp, { faults, worlds: 1_000 });
    else await wander(setUp, { faults, walks: 1_000, seed: 1 });
  } catch (error) {
    if (error instanceof Counterexample) return error.message;
    throw error;
  }
  return "nothing is wrong";
}

const routed = { workers: 1, toolhosts: 2, routed: "knowing" } as const;
const plain = { tool: "plain", workers: 1, toolhosts: 2 } as const;

describe("a protocol that is broken on purpose is found out", () => {
  test.each<[string, Scenario, Breakage, number, RegExp]>([
    ["appends follow no tail", fresh({}, messaging()), appendsRegardless, 0, /after \d+ comes/],
    [
      "a park does not look again",
      fresh({ tool: "approved" }, approving()),
      parksWithoutLooking,
      0,
      /forgotten/,
    ],
    ["whoever writes after a park is silent", parked({}, approving()), wakesNobody, 0, /forgotten/],
    ["a claim names no message", fresh({}, repeating), claimsNameNoMessage, 0, /who lives/],
    ["a claim names no delivery", fresh({}), claimsNameNoDelivery, 1, /who lives/],
    ["a worker sees no owner's message", fresh({}, repeating), seesNoMessages, 0, /who lives/],
    ["nobody looks after runs", fresh({}), unswept, 1, /forgotten/],
    ["nobody looks after requests", fresh(plain), callsUnwatched, 1, /forgotten/],
    ["journals follow no tail", fresh(plain), journalsRegardless, 1, /again|after its end/],
  ])(
    "when %s",
    async (_, scenario, breakage, faults, what) => {
      const found = await counterexampleOf(scenario, breakage, faults);
      expect(found).toMatch(what);
      // It says how it came to that.
      expect(found).toMatch(/\n +1 {2}\w/);
      expect(await counterexampleOf(scenario, {}, 0)).toBe("nothing is wrong");
    },
    120_000,
  );
});

describe("toolhosts that send calls on, and are broken on purpose, are found out", () => {
  test.each<[string, Scenario, Breakage, RegExp]>([
    ["calls are sent to nowhere", fresh({ ...routed, tool: "plain" }), sendsNowhere, /forgotten/],
    [
      "a toolhost sees no requests",
      fresh({ ...routed, tool: "idempotent", isSlow: true }, askingAgain),
      seesNoRequests,
      /executes a call twice/,
    ],
  ])(
    "when %s",
    async (_, scenario, breakage, what) => {
      const bounds = { faults: 0, walks: 60, seed: 1 };
      await expect(wander(() => scenario(breakage), bounds)).rejects.toThrow(what);
      const { worlds } = await wander(() => scenario(), bounds);
      expect(worlds).toBeGreaterThan(50);
    },
    120_000,
  );
});

test.each([
  ["a fresh run", fresh({})],
  ["a decision after the park", parked({}, approving())],
])(
  "a read that is old leaves nothing to whoever looks after runs: %s",
  async (_, scenario) => {
    const setUp = () => scenario(unsweptButForOldReads);
    const without = await explore(setUp, { faults: 0 });
    const { worlds, isAll } = await explore(setUp, { faults: 1 });
    expect(worlds).toBeGreaterThan(without.worlds);
    expect(isAll).toBe(true);
  },
  120_000,
);

test("a dispatch that is published twice harms nobody", async () => {
  const scenario = parked({}, approving());
  expect(await counterexampleOf(scenario, dispatchesAgain, 0)).toBe("nothing is wrong");
  const { worlds } = await wander(() => scenario(dispatchesAgain), {
    faults: 2,
    walks: 60,
    seed: 1,
  });
  expect(worlds).toBeGreaterThan(100);
}, 120_000);
