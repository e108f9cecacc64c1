import { create } from "@bufbuild/protobuf";
import { ModelCallPurpose } from "@reeve/contracts/run";
import { TurnEndedSchema } from "@reeve/contracts/thread";
import { ToolDescriptorSchema } from "@reeve/contracts/tool";
import { turnEnded } from "@reeve/run/thread/turn-ended";
import { describe, expect, test } from "vitest";
import { committedUsd } from "../../domain/budget/reserve-cost.ts";
import { promptTokens } from "../../domain/model/prompt-tokens.ts";
import { PlayedRun } from "../../../test/support/run-player.ts";
import { modelRequest } from "./model-request.ts";

const search = create(ToolDescriptorSchema, { name: "search" });
const priced = {
  id: "m",
  maxOutputTokens: 1_000,
  pricing: { inputUsdPerMillion: 0, outputUsdPerMillion: 1_000 },
};

/** Returns the request of the model call in progress. */
function requestIn(run: PlayedRun) {
  const frame = run.frame();
  if (frame.modelCall === undefined) throw new Error("no model is being called");
  return modelRequest(run.state, frame, frame.modelCall, 0);
}

describe("what is reserved is what is asked for", () => {
  const long = "word ".repeat(262);

  /** A run that is about to be summarized, under a cap that leaves what the answers have not used. */
  const compacted = (maxCostUsd: number) => {
    const spec = { maxTokens: 16, budgetAwareness: "limit:50", budgets: { maxCostUsd } };
    const model = { id: "m", contextWindow: 4_000, pricing: priced.pricing };
    const run = new PlayedRun(spec, { prepared: { model, tools: [search] } });
    for (let round = 0; round < 3; round++) {
      const inputTokens = promptTokens(run.state, run.frame());
      run.turnIn("", [{ name: "search" }], { inputTokens }).result(0, long);
    }
    return run;
  };

  // Requirement: TURN-4
  test("by a summary, which is shortened to what the cap leaves", () => {
    const run = compacted(1);
    const started = run.all("modelCallStarted").at(-1);
    expect(started).toMatchObject({ purpose: ModelCallPurpose.SUMMARY });
    const asked = started?.maxOutputTokens ?? 0;
    expect(asked).toBeGreaterThan(900);
    expect(started?.reservedUsd).toBeCloseTo(asked / 1_000);
    const request = requestIn(run);
    expect(request.maxTokens).toBe(asked);
    expect(committedUsd(run.state)).toBeLessThanOrEqual(1);
  });

  // Requirement: TURN-4
  test("and a summary that the cap does not allow is not made, while the run continues", () => {
    const run = compacted(0.2);
    expect(run.all("modelCallStarted").map(({ purpose }) => purpose)).toEqual(
      Array.from({ length: 4 }, () => ModelCallPurpose.ANSWER),
    );
    expect(run.all("context")).toMatchObject([{ summary: expect.stringContaining("word word") }]);
    expect(run.says("done").turn().end).toBe("completed");
  });

  // Requirement: TURN-4
  test("by an answer, also when only the model limits it", () => {
    const run = new PlayedRun({ budgets: { maxCostUsd: 2 } }, { prepared: { model: priced } });
    expect(requestIn(run).maxTokens).toBe(1_000);
    expect(run.all("modelCallStarted")).toMatchObject([{ maxOutputTokens: 1_000, reservedUsd: 1 }]);
  });

  // Requirement: TURN-4
  test("including injected arguments, the plan, and memories", () => {
    const model = { ...priced, pricing: { inputUsdPerMillion: 1_000, outputUsdPerMillion: 0 } };
    const tools = Array.from({ length: 20 }, (_, index) => ({ name: `t${index}` }));
    const reservedFor = (spec: object, recalled: string[] = [], plan?: string) => {
      const run = new PlayedRun(
        { ...spec, budgets: { maxCostUsd: 1_000 } },
        {
          tools,
          prepared: { model, recalled },
        },
      );
      if (plan !== undefined) run.says(JSON.stringify({ steps: [plan] })).turn();
      return run.all("modelCallStarted").at(-1)?.reservedUsd ?? 0;
    };
    const bare = reservedFor({});
    const description = "An opaque id of the caller. ".repeat(25);
    expect(reservedFor({ injectedToolArgs: { origin: description } })).toBeGreaterThan(bare + 2.5);
    expect(reservedFor({}, [long])).toBeGreaterThan(bare + 0.33);
    expect(reservedFor({ planningEnabled: true }, [], long)).toBeGreaterThan(bare + 0.33);
  });
});

describe("the cost of a call", () => {
  const pricing = {
    inputUsdPerMillion: 100,
    outputUsdPerMillion: 500,
    cachedInputUsdPerMillion: 10,
  };
  const usage = {
    inputTokens: 1_000,
    cachedInputTokens: 600,
    cacheWriteInputTokens: 300,
    outputTokens: 0,
  };

  test.each([
    ["the model's own price", { ...pricing, cacheWriteInputUsdPerMillion: 200 }, 0.076],
    ["1.25 times the input price by default", pricing, 0.0535],
  ])("includes writes to the provider's cache, at %s", (_, prices, costUsd) => {
    const run = new PlayedRun({}, { prepared: { model: { id: "m", pricing: prices } } });
    run
      .turnIn("", [{ name: "search" }], usage)
      .result(0)
      .says("done")
      .turn();
    expect(run.all("usage")[0]).toMatchObject({ cacheWriteInputTokens: 300 });
    expect(run.all("usage")[0]?.costUsd).toBeCloseTo(costUsd, 10);
    expect(run.all("costSummary")).toMatchObject([
      { cachedInputTokens: 600, cacheWriteInputTokens: 300 },
    ]);
  });

  test("is that of long requests for the whole call, if the request is long", () => {
    const longRequests = [
      { aboveInputTokens: 2_000, inputUsdPerMillion: 1_000, outputUsdPerMillion: 2_000 },
    ];
    const model = { id: "m", pricing: { ...pricing, longRequests } };
    const costs = [2_000, 2_001].map((inputTokens) => {
      const run = new PlayedRun({}, { prepared: { model } });
      run.turnIn("", [], { inputTokens, outputTokens: 1_000 });
      return run.all("usage")[0]?.costUsd;
    });
    expect(costs[0]).toBeCloseTo(0.2 + 0.5, 10);
    expect(costs[1]).toBeCloseTo(2.001 + 2, 10);
  });

  test.each([
    ["dearer", 1_000, 2_000],
    ["cheaper", 1, 2],
  ])(
    "is at most what was reserved, if long requests are %s",
    (_, inputUsdPerMillion, outputUsdPerMillion) => {
      const longRequests = [{ aboveInputTokens: 1, inputUsdPerMillion, outputUsdPerMillion }];
      const model = { id: "m", maxOutputTokens: 10, pricing: { ...pricing, longRequests } };
      const run = new PlayedRun({ budgets: { maxCostUsd: 50 } }, { prepared: { model } });
      const [started] = run.all("modelCallStarted");
      const inputTokens = started?.inputTokens ?? 0;
      for (const used of [1, inputTokens]) {
        const usage = { inputTokens: used, cacheWriteInputTokens: used, outputTokens: 10 };
        const other = new PlayedRun({ budgets: { maxCostUsd: 50 } }, { prepared: { model } });
        other.turnIn("", [], usage);
        expect(other.all("usage")[0]?.costUsd).toBeLessThanOrEqual(started?.reservedUsd ?? 0);
      }
    },
  );

  // Requirement: TURN-4
  test("is at most what was reserved, even if the whole request is written to the cache", () => {
    const model = { id: "m", maxOutputTokens: 10, pricing };
    const run = new PlayedRun({ budgets: { maxCostUsd: 5 } }, { prepared: { model } });
    const [started] = run.all("modelCallStarted");
    const inputTokens = started?.inputTokens ?? 0;
    run.turnIn("", [], { inputTokens, cacheWriteInputTokens: inputTokens, outputTokens: 10 });
    expect(run.all("usage")[0]?.costUsd).toBeLessThanOrEqual(started?.reservedUsd ?? 0);
  });
});

test("a provider that reports no usage is charged for what was counted before the call", () => {
  const run = new PlayedRun({}, { prepared: { model: { id: "m", pricing: priced.pricing } } });
  run.reportsUsage = false;
  run.says("done").turn();
  const [started] = run.all("modelCallStarted");
  expect(run.all("usage")).toMatchObject([{ estimated: true, inputTokens: started?.inputTokens }]);
});

function temperatureWith(capabilities?: { readonly temperature: boolean }): number | undefined {
  const run = new PlayedRun(
    { temperature: 0.5 },
    { prepared: { ...(capabilities && { capabilities }) } },
  );
  return requestIn(run).temperature;
}

test("a temperature that the provider does not accept is not in the request", () => {
  expect(temperatureWith()).toBe(0.5);
  expect(temperatureWith({ temperature: true })).toBe(0.5);
  expect(temperatureWith({ temperature: false })).toBeUndefined();
});

// Requirement: BUD-2
test("the notes on the context budget of earlier runs of a thread are still in the request", () => {
  const first = new PlayedRun({ budgetAwareness: "per-message" });
  first.turn({ name: "search" }).result(0).says("done").turn();
  const [called, answered] = first.all("modelTurn").map(({ advisory }) => advisory);
  expect(called).toContain("context budget");
  const { messages: history } = create(TurnEndedSchema, turnEnded("run_test", first.events));
  const next = requestIn(new PlayedRun({}, { prepared: { history } }));
  expect(next.messages.filter(({ role }) => role === "tool")).toMatchObject([{ notes: [called] }]);
  expect(next.messages.at(-1)).toMatchObject({ text: "go", notes: [answered] });
});
