import { readFileSync } from "node:fs";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { create, fromJson } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import { AgentSpecSchema, LimitsSchema, ModelCatalogSchema } from "@reeve/contracts/agent";
import { ToolCatalogSchema } from "@reeve/contracts/tool";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyMessage } from "../test/any-message.ts";
import { offer, tool } from "../test/offer.ts";
import type { CheckedSpec } from "./check-spec.ts";
import { checkSpec, slugOf } from "./check-spec.ts";
import { parseSpecFile } from "./spec-file.ts";

const example = readFileSync(new URL("../test/configured-example.json", import.meta.url), "utf8");

type SpecInit = MessageInitShape<typeof AgentSpecSchema>;

function check(init: SpecInit, offered = offer): CheckedSpec {
  return checkSpec(create(AgentSpecSchema, { name: "a", model: "default", ...init }), offered);
}

/** The violations as `field: reason`. */
function broken(init: SpecInit): string[] {
  return check(init).violations.map(({ field, reason }) => `${field}: ${reason}`);
}

/** Why the first violation is one. */
const reasonOf = (init: SpecInit): string | undefined => check(init).violations[0]?.description;

describe("a spec is valid", () => {
  test("with a name and a model", () => {
    expect(check({})).toMatchObject({ violations: [], warnings: [] });
  });

  test("with everything that this version honours", () => {
    const { violations, warnings } = check({
      id: "helper",
      instructions: "Help.",
      maxRounds: 1000,
      maxSteps: 1000,
      temperature: 0,
      maxTokens: 1,
      planningModel: "not: a reference, and ignored",
      planningInstructions: "ignored",
      maxParallelSubagents: 7,
      hitlTools: ["write_file", "mcp__weather__forecast"],
      emitMcpProgress: false,
      injectedToolArgs: { origin: "who asks" },
      allowedToolPatterns: fromJson(ListValueSchema, ["*"]),
      excludedTools: ["grep"],
      permissionClasses: ["safe", "knowledge", "network", "workspace_write", "execute"],
      deepAgent: {
        filesystem: true,
        terminal: false,
        code: false,
        planning: false,
        allowedImports: fromJson(ListValueSchema, ["json"]),
        codeTimeout: { seconds: 30n },
        readOnly: true,
      },
      mcpServers: ["weather"],
      approvalPolicy: { timeout: { seconds: 60n }, allowEditedArguments: true },
      budgets: { maxLlmCalls: 5, maxToolCalls: 5 },
    });
    expect(violations).toEqual([]);
    expect(warnings).toEqual([]);
  });
});

describe("a spec is stored with", () => {
  test("max_steps under its one name", () => {
    const { spec } = check({ maxSteps: 12 });
    expect(spec.maxRounds).toBe(12);
    expect(spec.maxSteps).toBeUndefined();
  });

  test("an id of its name, when it has none", () => {
    expect(check({ name: "Ops Supervisor (v2)" }).spec.id).toBe("ops-supervisor-v2");
    expect(check({ id: "mine", name: "Ops" }).spec.id).toBe("mine");
    expect(slugOf(`--${"x".repeat(62)} y`)).toBe("x".repeat(62));
  });

  test("defaults unset", () => {
    const { spec } = check({});
    expect([spec.emitMcpProgress, spec.maxParallelSubagents, spec.maxRounds]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  test("nothing of what was given changed", () => {
    const given = create(AgentSpecSchema, { name: "a", model: "default", maxSteps: 3 });
    checkSpec(given, offer);
    expect(given).toMatchObject({ id: "", maxSteps: 3 });
    expect(given.maxRounds).toBeUndefined();
  });
});

describe("a spec is refused for", () => {
  test("everything that is wrong with it, at once", () => {
    const violations = broken({
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
      ]),
    );
  });

  test("a model or a provider that there is not, or that could be several", () => {
    expect(broken({ model: "orphan" })).toEqual(["model: PROVIDER_NOT_FOUND"]);
    expect(broken({ model: "gpt-9" })).toEqual(["model: MODEL_NOT_FOUND"]);
    const models = { ...offer.models, models: [...offer.models.models, ...offer.models.models] };
    expect(check({}, { ...offer, models }).violations).toMatchObject([
      { field: "model", reason: "AMBIGUOUS_MODEL_REFERENCE" },
    ]);
  });

  test.each([
    "limit:101",
    "limit:7.5",
    "limit: 70",
    "Limit:70",
    "per_message",
    "",
    "limit:",
    "limit:-1",
  ])("a budget awareness of %j", (budgetAwareness) => {
    expect(broken({ budgetAwareness })).toContain("budget_awareness: MALFORMED");
  });

  test.each(["per-message", "limit:0", "limit:100"])(
    "no budget awareness of %j",
    (budgetAwareness) => {
      expect(broken({ budgetAwareness })).toEqual([]);
    },
  );

  test("a cap on cost under which its model, or that of its planner, could never be called", () => {
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
      { field, description: expect.stringContaining('model "script" has no price') },
    ]);
  });

  test("a name of which no id can be made", () => {
    expect(broken({ name: "助手" })).toEqual(["id: REQUIRED"]);
  });

  test("a tool for approval that it has not, with the reason", () => {
    expect(reasonOf({ hitlTools: ["run_command"] })).toContain("permission class execute");
    expect(reasonOf({ hitlTools: ["grep"], excludedTools: ["grep"] })).toContain("filter");
    expect(reasonOf({ hitlTools: ["gerp"] })).toContain(
      "it has: add_todo, complete_todo, forget, grep",
    );
    expect(reasonOf({ hitlTools: ["mcp__weather__snow"], mcpServers: ["weather"] })).toContain(
      "mcp__weather__snow",
    );
  });

  test("two sources of one tool", () => {
    const other = create(ToolCatalogSchema, { pool: "b", tools: [tool("grep", { pool: "b" })] });
    const { violations } = check({}, { ...offer, tools: [...offer.tools, other] });
    expect(violations).toMatchObject([{ field: "tools", reason: "TOOL_ID_CONFLICT" }]);
  });
});

describe("a spec is refused by name for what is not honoured yet", () => {
  const asks: readonly (readonly [string, SpecInit])[] = [
    ["plugin_ids", { pluginIds: ["p"] }],
    ["sections", { sections: { retry: { kind: { case: "boolValue", value: true } } } }],
    ["delegates", { delegates: ["other"] }],
    ["endpoint", { endpoint: { url: "http://x" } }],
  ];

  test.each(asks)("%s", (field, init) => {
    expect(broken(init)).toEqual([`${field}: UNSUPPORTED_CAPABILITY`]);
    expect(check(init).violations[0]?.description).toContain("not supported");
  });
});

test("the configured example is valid once its tools exist", () => {
  const tools = ["deploy_service", "rotate_credentials"].map((name) => tool(name));
  const catalogs = [...offer.tools, create(ToolCatalogSchema, { pool: "ops", tools })];
  const spec = parseSpecFile(example, "example.json");
  const { violations, spec: stored } = checkSpec(spec, { ...offer, tools: catalogs });
  expect(violations).toEqual([]);
  expect(stored).toMatchObject({ id: "ops-supervisor", maxRounds: 12 });
});

describe("limits of a spec", () => {
  const maxima = create(LimitsSchema, {
    maxRounds: 30,
    budgets: { maxLlmCalls: 100, maxCostUsd: 2, maxWallClock: { seconds: 600n } },
  });
  const { providers } = offer.models;
  const pricing = { inputUsdPerMillion: 1, outputUsdPerMillion: 2 };
  const priced = { id: "default", provider: "openai", maxOutputTokens: 1_000, pricing };
  const within = (init: SpecInit) =>
    checkSpec(create(AgentSpecSchema, { name: "a", model: "default", ...init }), {
      ...offer,
      models: create(ModelCatalogSchema, { models: [priced], providers, maxima }),
    }).violations.map(({ field, reason }) => `${field}: ${reason}`);

  test("may be raised up to what the deployment allows, and no further", () => {
    expect(within({ maxRounds: 30, budgets: { maxLlmCalls: 100, maxCostUsd: 2 } })).toEqual([]);
    expect(
      within({
        maxRounds: 31,
        budgets: { maxLlmCalls: 101, maxCostUsd: 2.5, maxWallClock: { seconds: 601n } },
      }),
    ).toEqual([
      "max_rounds: ABOVE_MAXIMUM",
      "budgets.max_wall_clock: ABOVE_MAXIMUM",
      "budgets.max_llm_calls: ABOVE_MAXIMUM",
      "budgets.max_cost_usd: ABOVE_MAXIMUM",
    ]);
  });

  test("have to let a run move at all", () => {
    expect(broken({ budgets: { maxParallel: 0, maxResultBytes: 10 } })).toEqual([
      expect.stringContaining("budgets.max_parallel"),
      expect.stringContaining("budgets.max_result_bytes"),
    ]);
  });
});

describe("of a spec is warned", () => {
  test("that an MCP server has never listed its tools, which then may come to be", () => {
    const { violations, warnings } = check({
      mcpServers: ["maps"],
      hitlTools: ["mcp__maps__route"],
    });
    expect(violations).toEqual([]);
    expect(warnings).toEqual([
      expect.stringMatching(/^mcp_servers: "maps"/),
      expect.stringMatching(/^hitl_tools: .*"mcp__maps__route"/),
    ]);
  });

  test("but not of such a tool that the filter removes", () => {
    const excludedToolPatterns = ["mcp__maps__*"];
    const init = { mcpServers: ["maps"], hitlTools: ["mcp__maps__route"], excludedToolPatterns };
    expect(broken(init)).toEqual(["hitl_tools[0]: TOOL_NOT_FOUND"]);
  });

  test("that a tool which it asks for is left out", () => {
    const allowedTools = fromJson(ListValueSchema, ["grep", "execute_code"]);
    expect(check({ allowedTools }).warnings).toEqual([
      expect.stringMatching(/"execute_code": it needs the permission class execute/),
    ]);
  });
});

test("any spec is checked without a fault, and is stored as it would be stored again", () => {
  fc.assert(
    fc.property(anyMessage(AgentSpecSchema), (init) => {
      const checked = checkSpec(create(AgentSpecSchema, init), offer);
      const again = checkSpec(checked.spec, offer);
      expect(again.spec).toEqual(checked.spec);
      expect(again.violations.length).toBeLessThanOrEqual(checked.violations.length);
    }),
  );
});
