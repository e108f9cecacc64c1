import { create, toBinary } from "@bufbuild/protobuf";
import { ModelSpecSchema } from "@reeve/contracts/agent";
import { RunEventSchema } from "@reeve/contracts/run";
import { describe, expect, test } from "vitest";
import type { Setting } from "../../../test/support/played-log.ts";
import { PlayedRun } from "../../../test/support/run-player.ts";
import type { ModelUsage } from "./model.ts";
import { modelTurnFacts } from "./model-turn-facts.ts";
import { countedTokens, promptTokens } from "./prompt-tokens.ts";

const pricing = { inputUsdPerMillion: 1, outputUsdPerMillion: 1, cachedInputUsdPerMillion: 0.1 };
const priced: Setting = {
  prepared: {
    model: { id: "m", contextWindow: 4_000, maxOutputTokens: 100, pricing },
    tools: [{ name: "search" }],
  },
};

/** Plays rounds of a tool whose model reports this usage, and returns the run. Each of its events can be stored. */
function reporting(usage: object, spec: object): PlayedRun {
  const run = new PlayedRun({ contextPolicy: {}, ...spec }, priced);
  for (let round = 0; round < 4 && run.end === undefined; round++) {
    run.turnIn("", [{ name: "search" }], usage);
    if (run.end === undefined && run.frame().calls.length > 0) run.result(0, "word ".repeat(300));
  }
  for (const event of run.events) toBinary(RunEventSchema, event);
  return run;
}

describe("usage that no model can have", () => {
  const specs = [{}, { budgetAwareness: "per-message" }, { budgets: { maxCostUsd: 1 } }];
  const invalid = [-5, 0.5, NaN, Infinity, 2 ** 32, Number.MAX_SAFE_INTEGER];
  test.each(invalid.flatMap((count) => specs.map((spec) => [count, JSON.stringify(spec), spec])))(
    "of %d tokens is replaced by the runtime's count, with %s",
    (inputTokens, _, spec) => {
      const [first] = reporting({ inputTokens }, spec as object).all("usage");
      expect(first?.estimated).toBe(true);
      expect(first?.inputTokens).toBeGreaterThan(0);
      expect(first?.inputTokens).toBeLessThan(4_000);
    },
  );
});

test("usage without one of its counts is replaced by the runtime's count", () => {
  const run = new PlayedRun({}, priced);
  const { modelCall: call } = run.frame();
  if (call === undefined) throw new Error("no model is called");
  const model = create(ModelSpecSchema, { id: "m" });
  // A provider that was written for an older version.
  const usage = { inputTokens: 5, outputTokens: 5, cachedInputTokens: 0, reasoningTokens: 0 };
  const turn = { messageJson: "{}", finishReason: "stop", calls: [], model: "m" };
  const taken = { call, model, format: "test", turn: { ...turn, usage: usage as ModelUsage } };
  run.append(modelTurnFacts(run.state, run.frame(), taken));
  for (const event of run.events) toBinary(RunEventSchema, event);
  expect(run.all("usage")).toMatchObject([{ estimated: true, cacheWriteInputTokens: 0 }]);
});

test.each([{}, { budgetAwareness: "limit:100" }, { budgetAwareness: "per-message" }])(
  "a provider that counts a billion tokens per call leaves a log that can be stored, with %o",
  (spec) => {
    const run = reporting({ inputTokens: 1e9, outputTokens: 1e9 }, spec);
    expect(run.all("usage")[0]).toMatchObject({ inputTokens: 1e9, estimated: false });
  },
);

// Requirement: TURN-4
test("more cached tokens than input tokens count as input, so that a call never costs less than nothing", () => {
  const run = new PlayedRun({ budgets: { maxCostUsd: 1 } }, priced);
  run.turnIn("", [{ name: "search" }], { inputTokens: 10, cachedInputTokens: 1_000_000 });
  expect(run.all("usage")).toMatchObject([
    { inputTokens: 1_000_000, cachedInputTokens: 1_000_000 },
  ]);
  expect(run.state.head.spent.costUsd).toBeCloseTo(0.1);
});

test("each count of a provider above the bound raises the bound as far", () => {
  const run = new PlayedRun({}, priced);
  for (const _ of [1, 2]) {
    const inputTokens = 2 * promptTokens(run.state, run.frame());
    run.turnIn("", [{ name: "search" }], { inputTokens }).result(0, "");
  }
  const unmeasured = { ...run.frame(), measured: undefined };
  const counted = countedTokens(run.state, unmeasured);
  expect(promptTokens(run.state, unmeasured)).toBe(4 * counted);
});

// Requirement: RES-7
test.each([
  [0.25, 0.25],
  [0, 0],
  [-1, 0.000_2],
  [NaN, 0.000_2],
  [Infinity, 0.000_2],
])("a cost of %d that a provider reports is charged as %d dollars", (costUsd, charged) => {
  const usage = { inputTokens: 100, outputTokens: 100, costUsd };
  const [first] = reporting(usage, {}).all("usage");
  expect(first).toMatchObject({ estimated: false });
  expect(first?.costUsd).toBeCloseTo(charged, 9);
});
