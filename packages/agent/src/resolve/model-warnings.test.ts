import { create, fromJson } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import { AgentSpecSchema, ModelCatalogSchema } from "@reeve/contracts/agent";
import { unrestricted } from "../policy/caller-policy.ts";
import { expect, test } from "vitest";
import type { SpecInit } from "../../test/check.ts";
import { check } from "../../test/check.ts";
import { offer } from "../../test/offer.ts";
import { resolveAgent } from "./resolve-agent.ts";

const models = create(ModelCatalogSchema, {
  models: [
    { id: "unsized", provider: "openai", maxOutputTokens: 4_096 },
    { id: "sized", provider: "openai", contextWindow: 8_000 },
    { id: "toolless", provider: "openai", contextWindow: 8_000, capabilities: { tools: false } },
  ],
  providers: [{ name: "openai", capabilities: { tools: true } }],
});

/** Returns the warnings of validation, after checking that the start of a run has the same ones. */
function warningsOf(init: SpecInit): readonly string[] {
  const offered = { ...offer, models };
  const { warnings, violations } = check(init, offered);
  expect(violations).toEqual([]);
  const spec = create(AgentSpecSchema, { name: "a", ...init });
  const context = { isEditor: false, extraTools: [], policy: unrestricted };
  expect(resolveAgent(spec, offered, context).warnings).toEqual(warnings);
  return warnings;
}

const refused = (init: SpecInit) =>
  check(init, { ...offer, models }).violations.map(({ field, reason }) => `${field} ${reason}`);

test("each fallback model is checked as the model is, and must call tools if it does", () => {
  expect(warningsOf({ model: "sized", fallbackModels: ["unsized"], maxTokens: 5_000 })).toEqual([
    expect.stringContaining('max_tokens: the model "unsized"'),
  ]);
  expect(refused({ model: "sized", fallbackModels: ["unsized", "gone", "toolless"] })).toEqual([
    "fallback_models[1] MODEL_NOT_FOUND",
    "fallback_models[2] UNSUPPORTED_CAPABILITY",
  ]);
  const capped = { model: "toolless", fallbackModels: ["sized"], budgets: { maxCostUsd: 1 } };
  expect(refused(capped)).toEqual([
    "budgets.max_cost_usd UNKNOWN_COST",
    "budgets.max_cost_usd UNKNOWN_COST",
  ]);
  const spec = create(AgentSpecSchema, { name: "a", model: "sized", fallbackModels: ["toolless"] });
  const context = { isEditor: false, extraTools: [], policy: unrestricted };
  expect(() => resolveAgent(spec, { ...offer, models }, context)).toThrow(/does not call tools/);
});

// Requirement: BUD-3, DUR-6
test.each<[string, SpecInit]>([
  ["budget_awareness", { budgetAwareness: "limit:70" }],
  ["budget_awareness", { budgetAwareness: "per-message" }],
  ["context_policy", { contextPolicy: {} }],
])("a share of a context window that is not known has a warning of %s", (field, init) => {
  expect(warningsOf({ model: "unsized", ...init })).toEqual([
    `${field}: the context window of the model "unsized" is not known, so 128,000 tokens are assumed; set context_window in the model registry`,
  ]);
  expect(warningsOf({ model: "sized", ...init })).toEqual([]);
});

test("a number of tokens needs no context window", () => {
  expect(
    warningsOf({ model: "unsized", contextPolicy: { compactAtTokens: 1_000 }, maxTokens: 4_096 }),
  ).toEqual([]);
});

// Requirement: DUR-6
test("an answer that is longer than the model gives has a warning", () => {
  expect(warningsOf({ model: "unsized", maxTokens: 4_097 })).toEqual([
    expect.stringMatching(/^max_tokens: the model "unsized" gives answers of at most 4096 tokens/),
  ]);
});

// Requirement: LOOP-5, DUR-6
test("an agent that asks for tools has a warning if its model, or the planner's, calls none", () => {
  const allowedTools = fromJson(ListValueSchema, ["grep"]);
  const warning = 'allowed_tools: the model "toolless" does not call tools, so it has none';
  expect(warningsOf({ model: "toolless" })).toEqual([]);
  expect(warningsOf({ model: "toolless", allowedTools })).toEqual([warning]);
  const planned = { planningEnabled: true, planningModel: "toolless", allowedTools };
  expect(warningsOf({ model: "sized", ...planned })).toEqual([warning]);
});
