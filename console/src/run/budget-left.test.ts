import { create } from "@bufbuild/protobuf";
import { RunPreparedSchema } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import { budgetUse, maxWorkMs } from "./budget-left.ts";
import { emptyRun } from "./run-model.ts";

test("the budgets that a run has are shown with what is used of them", () => {
  const run = emptyRun("run_1");
  expect(budgetUse(run)).toEqual([]);
  run.prepared = create(RunPreparedSchema, {
    limits: { budgets: { maxCostUsd: 2, maxLlmCalls: 10, maxWallClock: { seconds: 60n } } },
  });
  expect(maxWorkMs(emptyRun("run_2"))).toBe(180_000);
  Object.assign(run.usage, { modelCalls: 3, costUsd: 0.5 });
  expect(budgetUse(run)).toEqual([
    { name: "cost", used: 0.5, max: 2, isCost: true },
    { name: "model calls", used: 3, max: 10 },
    { name: "tool calls", used: 0, max: 200 },
    { name: "subtasks", used: 0, max: 32 },
  ]);
  expect(maxWorkMs(run)).toBe(60_000);
});
