import { create } from "@bufbuild/protobuf";
import { AgentSpecSchema, LimitsSchema } from "@reeve/contracts/agent";
import { expect, test } from "vitest";
import { limitsFor, parseLimitsFile } from "./limits.ts";

const maxima = create(LimitsSchema, {
  maxRounds: 10,
  budgets: { maxLlmCalls: 100, maxToolCalls: 50, maxCostUsd: 2, maxWallClock: { seconds: 60n } },
});

// Requirement: TURN-5
test("a run has the limits of its agent, but at most the maxima of the deployment", () => {
  const spec = create(AgentSpecSchema, {
    maxRounds: 30,
    budgets: { maxLlmCalls: 80, maxToolCalls: 70, maxWallClock: { seconds: 90n } },
  });
  expect(limitsFor(spec, maxima)).toMatchObject({
    maxRounds: 10,
    budgets: {
      maxLlmCalls: 80,
      maxToolCalls: 50,
      maxCostUsd: 2,
      maxWallClock: { seconds: 60n },
    },
  });
});

test("a maximum above the default does not raise the limits of an agent that sets none", () => {
  const limits = limitsFor(create(AgentSpecSchema), maxima);
  expect(limits.budgets).toMatchObject({ maxLlmCalls: 60, maxToolCalls: 50 });
  expect(limits.maxRounds).toBe(10);
});

test("without maxima an agent has the limits that it sets, and no others", () => {
  const spec = create(AgentSpecSchema, { budgets: { maxLlmCalls: 1_000 } });
  const limits = limitsFor(spec, undefined);
  expect(limits.budgets?.maxLlmCalls).toBe(1_000);
  expect(limits.budgets?.maxToolCalls).toBeUndefined();
  expect(limits.maxRounds).toBeUndefined();
});

test("a limit without a value is refused: it would be no limit", () => {
  const text = "max_rounds: 5\nbudgets:\n  max_cost_usd:\n  max_llm_calls: null\n";
  expect(() => parseLimitsFile(text, "limits.yaml")).toThrow(
    "budgets.max_cost_usd: has no value; set one, or leave it out; budgets.max_llm_calls: has no value",
  );
});
