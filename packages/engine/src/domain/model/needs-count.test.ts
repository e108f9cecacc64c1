import { describe, expect, test } from "vitest";
import { PlayedRun } from "../../../test/support/run-player.ts";
import { nextEffects } from "../next-effects.ts";
import { promptTokens } from "./prompt-tokens.ts";

const counting = { tools: true, countsTokens: true };
const long = "word ".repeat(2_000);

const kinds = (run: PlayedRun) => nextEffects(run.state).map(({ kind }) => kind);

/** A run whose input is about `long`, in a window of 4,000 tokens. */
const runWith = (spec: object, capabilities: object = counting, model: object = {}) =>
  new PlayedRun(spec, {
    created: { input: long },
    prepared: { model: { id: "m", contextWindow: 4_000, ...model }, capabilities },
  });

describe("before a request that exceeds a limit by the runtime's upper bound", () => {
  // Requirement: BUD-3
  test("the provider counts, and a request within the limit is sent", () => {
    const run = runWith({ budgetAwareness: "limit:60" });
    expect(kinds(run)).toEqual(["count_tokens"]);
    expect(promptTokens(run.state, run.frame())).toBeGreaterThan(2_400);
    run.counts(2_050);
    expect(kinds(run)).toEqual(["call_model"]);
    expect(run.all("modelCallStarted")).toMatchObject([{ inputTokens: 2_050 }]);
  });

  test("a count above the limit ends the run as configured", () => {
    const run = runWith({ budgetAwareness: "limit:60" }).counts(2_500);
    expect(run.end).toBe("completed");
    expect(run.all("modelCallStarted")).toEqual([]);
  });

  test("without a count, the bound decides, and the provider is not asked again", () => {
    const run = runWith({ budgetAwareness: "limit:60" }).counts(0);
    expect(run.end).toBe("completed");
  });

  // Requirement: TURN-4
  test("the provider counts for a limit on cost too", () => {
    const pricing = { inputUsdPerMillion: 1_000, outputUsdPerMillion: 0 };
    const spec = { maxTokens: 16, budgets: { maxCostUsd: 3 } };
    const run = runWith(spec, counting, { pricing });
    expect(kinds(run)).toEqual(["count_tokens"]);
    run.counts(2_050);
    expect(run.all("modelCallStarted")).toMatchObject([{ reservedUsd: 2.5625 }]);
  });

  test("a provider that does not count is not asked", () => {
    const run = runWith({ budgetAwareness: "limit:60" }, { tools: true });
    expect(run.end).toBe("completed");
  });
});

test("a request within all limits is sent without a count", () => {
  expect(
    kinds(runWith({ budgetAwareness: "limit:100" }, counting, { contextWindow: 20_000 })),
  ).toEqual(["call_model"]);
});

test("the count of a request is not that of the next one", () => {
  const run = runWith({ budgetAwareness: "limit:60" }).counts(2_050);
  run.turnIn("", [{ name: "search" }], { inputTokens: 2_050 }).result(0, long);
  expect(run.frame().counted).toBeUndefined();
  expect(promptTokens(run.state, run.frame())).toBeGreaterThan(4_000);
});
