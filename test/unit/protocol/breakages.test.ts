import { describe, expect, test } from "vitest";
import {
  acknowledgesForOthers,
  appendsIgnoringTail,
  cancelsOnlyTheRun,
  decidesWithoutReading,
  leavesCallsOpen,
  callsUnwatched,
  claimsNameNoDelivery,
  claimsNameNoMessage,
  keepsDuplicateDispatches,
  journalsIgnoringTail,
  parksWithoutReading,
  ignoresOwnerMessages,
  asksNoHost,
  losesForwardedCalls,
  releasesNothing,
  startsWithoutLimit,
  unswept,
  unsweptWithEndingWorkers,
  unsweptWithStaleReads,
  leavesParkedRunsAsleep,
} from "./breakages.ts";
import { Counterexample, explore, walkRandomly } from "./explore.ts";
import type { Breakage } from "./play.ts";
import type { Scenario } from "./scenarios.ts";
import {
  approving,
  cancelledOnce,
  cutOffScenarios,
  decidedTwice,
  endless,
  fresh,
  messaging,
  parked,
  repeating,
  takingDown,
} from "./scenarios.ts";

/** Returns the counterexample that exploring a broken protocol finds, as text. */
async function counterexampleOf(
  scenario: Scenario,
  breakage: Breakage,
  faults: number,
): Promise<string> {
  const setUp = () => scenario(breakage);
  try {
    if (faults === 0) await explore(setUp, { faults, worlds: 1_000 });
    else await walkRandomly(setUp, { faults, walks: 1_000, seed: 1 });
  } catch (error) {
    if (error instanceof Counterexample) return error.message;
    throw error;
  }
  return "no counterexample";
}

const routed = { workers: 1, toolhosts: 2, routed: "knowing" } as const;
const plain = { tool: "plain", workers: 1, toolhosts: 2 } as const;

/** Scenarios of several broken protocols. */
const one = fresh({});
const repeated = fresh({}, repeating);
const call = fresh(plain);
const slowCall = fresh({ ...plain, isSlow: true });
const [, [, lostCall]] = cutOffScenarios;
const explored = new Map<Scenario, Promise<string>>();

/** Explores a scenario of the protocol as it is, once. */
async function unbroken(scenario: Scenario): Promise<string> {
  const exploring = explored.get(scenario) ?? counterexampleOf(scenario, {}, 0);
  explored.set(scenario, exploring);
  return await exploring;
}

describe("the exploration finds a protocol that is broken on purpose", () => {
  test.each<[string, Scenario, Breakage, number, RegExp]>([
    [
      "appends ignore the tail",
      fresh({}, messaging()),
      appendsIgnoringTail,
      0,
      /sequence \d+ is followed by/,
    ],
    [
      "a worker parks without reading the log again",
      fresh({ tool: "approved" }, approving()),
      parksWithoutReading,
      0,
      /forgotten/,
    ],
    [
      "an external writer does not wake a parked run",
      parked({}, approving()),
      leavesParkedRunsAsleep,
      0,
      /forgotten/,
    ],
    ["a claim does not name its message", repeated, claimsNameNoMessage, 0, /who is alive/],
    ["a claim does not name its delivery", one, claimsNameNoDelivery, 1, /who is alive/],
    ["a worker ignores the owner's message", repeated, ignoresOwnerMessages, 0, /who is alive/],
    ["no gateway sweeps runs", one, unswept, 1, /forgotten/],
    ["no worker watches the requests of calls", call, callsUnwatched, 1, /forgotten/],
    ["journals ignore the tail", call, journalsIgnoringTail, 1, /again|after its end/],
    [
      "decisions are appended without reading the log again",
      decidedTwice,
      decidesWithoutReading,
      0,
      /confirmed decision of \w+ does not count/,
    ],
    [
      "a worker acknowledges a message that belongs to another one",
      one,
      acknowledgesForOthers,
      1,
      /worker \d removes the message of worker \d, who owns the run/,
    ],
    [
      "a toolhost acknowledges a request that belongs to another one",
      slowCall,
      acknowledgesForOthers,
      2,
      /removes the (message|request) of/,
    ],
    [
      "a toolhost asks no other one whether it executes a call",
      slowCall,
      asksNoHost,
      1,
      /takes a call from toolhost \d, who is alive and executes it/,
    ],
  ])(
    "when %s",
    async (_, scenario, breakage, faults, what) => {
      const found = await counterexampleOf(scenario, breakage, faults);
      expect(found).toMatch(what);
      // The counterexample lists the steps that led to it.
      expect(found).toMatch(/\n +1 {2}\w/);
      expect(await unbroken(scenario)).toBe("no counterexample");
    },
    120_000,
  );
});

describe("random walks find a protocol that is broken on purpose", () => {
  test.each<[string, Scenario, Breakage, RegExp]>([
    [
      "forwarded calls reach no toolhost",
      fresh({ ...routed, tool: "plain" }),
      losesForwardedCalls,
      /forgotten/,
    ],
    [
      "nobody withdraws the calls of a cancelled run",
      endless,
      leavesCallsOpen,
      /outlasts its run|after the confirmed/,
    ],
    [
      "a cancellation reaches the log of the run only",
      endless,
      cancelsOnlyTheRun,
      /after the confirmed cancellation/,
    ],
  ])(
    "when %s",
    async (_, scenario, breakage, what) => {
      const bounds = { faults: 0, walks: 60, seed: 1 };
      await expect(walkRandomly(() => scenario(breakage), bounds)).rejects.toThrow(what);
      const { worlds } = await walkRandomly(() => scenario(), bounds);
      expect(worlds).toBeGreaterThan(50);
    },
    120_000,
  );
});

test("every world is explored in which a toolhost dies with a call that took down two others, and a fourth start is found", async () => {
  const faults = /^toolhost \d dies$/;
  const broken = explore(() => takingDown({ ...startsWithoutLimit, faults }), { faults: 1 });
  await expect(broken).rejects.toThrow(/starts a call 4 times/);
  const { worlds, isAll } = await explore(() => takingDown({ faults }), { faults: 1 });
  expect(worlds).toBeGreaterThan(50);
  expect(isAll).toBe(true);
}, 120_000);

test("the exploration finds a toolhost that was cut off and acknowledges the request of the one that took its call over", async () => {
  const broken = explore(() => lostCall(acknowledgesForOthers), { faults: 0, worlds: 400 });
  await expect(broken).rejects.toThrow(
    /toolhost 1 removes the request of toolhost 2, who executes the call/,
  );
}, 120_000);

test("random walks in which a canceller dies find a worker that withdraws no calls of its ended run", async () => {
  const faults = /^canceller dies$/;
  const bounds = { faults: 1, walks: 60, seed: 1 };
  const broken = walkRandomly(() => cancelledOnce({ ...releasesNothing, faults }), bounds);
  await expect(broken).rejects.toThrow(/a call outlasts its run/);
  const { worlds } = await walkRandomly(() => cancelledOnce({ faults }), bounds);
  expect(worlds).toBeGreaterThan(50);
}, 120_000);

const decided = parked({}, approving());

test.each<[string, Breakage, Scenario]>([
  ["a stale read of a fresh run", unsweptWithStaleReads, fresh({})],
  ["a stale read of a decision after the park", unsweptWithStaleReads, decided],
  ["a worker that ends with a fresh run", unsweptWithEndingWorkers, fresh({ isSlow: true })],
  ["a worker that ends with a decided run", unsweptWithEndingWorkers, decided],
  ["a worker that ends with a call", unsweptWithEndingWorkers, fresh({ tool: "plain" })],
])(
  "%s leaves no work for the sweep",
  async (_, breakage, scenario) => {
    const setUp = () => scenario(breakage);
    const without = await explore(setUp, { faults: 0 });
    const { worlds, isAll } = await explore(setUp, { faults: 1 });
    expect(worlds).toBeGreaterThan(without.worlds);
    expect(isAll).toBe(true);
  },
  120_000,
);

test("a dispatch that is published twice breaks nothing", async () => {
  const scenario = parked({}, approving());
  expect(await counterexampleOf(scenario, keepsDuplicateDispatches, 0)).toBe("no counterexample");
  const { worlds } = await walkRandomly(() => scenario(keepsDuplicateDispatches), {
    faults: 2,
    walks: 60,
    seed: 1,
  });
  expect(worlds).toBeGreaterThan(100);
}, 120_000);
