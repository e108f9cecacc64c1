import { create, fromJson } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import { ModelCatalogSchema } from "@reeve/contracts/agent";
import { ToolCatalogSchema } from "@reeve/contracts/tool";
import { describe, expect, test } from "vitest";
import type { SpecInit } from "../../test/check.ts";
import { check, violationsOf } from "../../test/check.ts";
import { offer, tool } from "../../test/offer.ts";

/** Returns the description of the first violation. */
const descriptionOf = (init: SpecInit): string | undefined =>
  check(init).violations[0]?.description;

describe("a spec is rejected for", () => {
  // Requirement: CFG-7, CFG-9, CFG-11, HITL-5
  test("all of its errors at once", () => {
    const violations = violationsOf({
      id: "No Id",
      name: "",
      model: "gpt-9",
      maxRounds: 0,
      maxSteps: 3,
      temperature: 2.5,
      maxTokens: 0,
      budgetAwareness: "limit:101",
      hitlTools: ["write_file", "deploy"],
      injectedToolArgs: { "a b": "", path: "" },
      maxParallelSubagents: 8,
      allowedTools: fromJson(ListValueSchema, ["write_file", 3]),
      excludedToolPatterns: ["", "a\\"],
      permissionClasses: ["root", "Safe"],
      deepAgent: { codeTimeout: { seconds: 0n }, allowedImports: fromJson(ListValueSchema, [1]) },
      approvalPolicy: { timeout: { seconds: -1n } },
      answerPolicy: { truncated: "ignore", filtered: "continue", maxContinuations: 21 },
    });
    expect(new Set(violations)).toEqual(
      new Set([
        "id: STRING_PATTERN",
        "name: STRING_MIN_LEN",
        "model: MODEL_NOT_FOUND",
        "max_rounds: UINT32_GTE_LTE",
        "max_steps: CONTRADICTION",
        "temperature: DOUBLE_GTE_LTE",
        "max_tokens: UINT32_GTE",
        "budget_awareness: MALFORMED",
        "hitl_tools[1]: TOOL_NOT_FOUND",
        'injected_tool_args["a b"]: MALFORMED',
        'injected_tool_args["path"]: ARGUMENT_COLLISION',
        "max_parallel_subagents: UINT32_GTE_LTE",
        "allowed_tools[1]: MISTYPED",
        "excluded_tool_patterns[0]: MALFORMED",
        "excluded_tool_patterns[1]: MALFORMED",
        "permission_classes[0]: UNKNOWN_CLASS",
        "permission_classes[1]: UNKNOWN_CLASS",
        "deep_agent.code_timeout: DURATION_GT_LTE",
        "deep_agent.allowed_imports[0]: MISTYPED",
        "approval_policy.timeout: DURATION_GT",
        "answer_policy.truncated: STRING_IN",
        "answer_policy.filtered: STRING_IN",
        "answer_policy.max_continuations: UINT32_GTE_LTE",
      ]),
    );
  });

  test.each([
    ["maxDepth", 100],
    ["maxParallel", 1_000],
    ["maxSubtasks", 100_000],
    ["maxLlmCalls", 100_000],
    ["maxToolCalls", 100_000],
  ] as const)("a budget that lets its log grow without end: %s above %i", (name, maximum) => {
    expect(violationsOf({ budgets: { [name]: maximum } })).toEqual([]);
    const [violation = ""] = violationsOf({ budgets: { [name]: maximum + 1 } });
    expect(violation).toMatch(/^budgets\.max_\w+: UINT32_(GTE_)?LTE$/);
  });

  // Requirement: RES-2
  test("a missing model or provider, or an ambiguous model", () => {
    expect(violationsOf({ model: "orphan" })).toEqual(["model: PROVIDER_NOT_FOUND"]);
    expect(violationsOf({ model: "gpt-9" })).toEqual(["model: MODEL_NOT_FOUND"]);
    const models = { ...offer.models, models: [...offer.models.models, ...offer.models.models] };
    expect(check({}, { ...offer, models }).violations).toMatchObject([
      { field: "model", reason: "AMBIGUOUS_MODEL_REFERENCE" },
    ]);
  });

  // Requirement: CFG-4
  test.each([
    "limit:101",
    "limit:7.5",
    "limit: 70",
    "Limit:70",
    "per_message",
    "",
    "limit:",
    "limit:-1",
    "limit:007",
    "limit:00",
    "limit:70\n",
  ])("the invalid budget awareness %j", (budgetAwareness) => {
    expect(violationsOf({ budgetAwareness })).toContain("budget_awareness: MALFORMED");
  });

  // Requirement: CFG-4
  test.each(["per-message", "limit:0", "limit:9", "limit:10", "limit:100"])(
    "anything but the valid budget awareness %j",
    (budgetAwareness) => {
      expect(violationsOf({ budgetAwareness })).toEqual([]);
    },
  );

  // Requirement: TURN-4
  test("a cap on cost that its model, or the model of its planner, has no price for", () => {
    const pricing = { inputUsdPerMillion: 1, outputUsdPerMillion: 2 };
    const models = create(ModelCatalogSchema, {
      models: [
        { id: "default", provider: "openai", upstreamName: "gpt", pricing },
        { id: "script", provider: "openai", upstreamName: "free" },
      ],
      providers: [{ name: "openai" }],
    });
    const under = (init: Omit<SpecInit, "$typeName" | "$unknown">) =>
      check({ budgets: { maxCostUsd: 1 }, ...init }, { ...offer, models });
    const field = "budgets.max_cost_usd";
    expect(under({ maxTokens: 100 }).violations).toEqual([]);
    expect(under({}).violations).toMatchObject([{ field, reason: "UNKNOWN_COST" }]);
    const planned = { planningEnabled: true, planningModel: "script", maxTokens: 100 };
    expect(under(planned).violations).toMatchObject([
      { field, description: expect.stringMatching(/^model "script" has no price; .*REEVE_MODELS/) },
    ]);
  });

  test("a name from which no id can be derived", () => {
    expect(violationsOf({ name: "助手" })).toEqual(["id: REQUIRED"]);
  });

  // Requirement: CFG-5, HITL-5
  test("a tool to approve that it does not have, with the reason", () => {
    expect(descriptionOf({ hitlTools: ["run_command"] })).toContain("permission class execute");
    expect(descriptionOf({ hitlTools: ["grep"], excludedTools: ["grep"] })).toContain("filter");
    expect(descriptionOf({ hitlTools: ["gerp"] })).toContain(
      "its tools are: add_todo, complete_todo, forget, grep",
    );
    expect(descriptionOf({ hitlTools: ["mcp__weather__snow"], mcpServers: ["weather"] })).toContain(
      "mcp__weather__snow",
    );
  });

  test("a tool that two sources offer", () => {
    const other = create(ToolCatalogSchema, {
      pool: "b",
      tools: [tool("grep", { pool: "b", source: "mcp:x" })],
    });
    const { violations } = check({}, { ...offer, tools: [...offer.tools, other] });
    expect(violations).toMatchObject([{ field: "tools", reason: "TOOL_ID_CONFLICT" }]);
  });
});
