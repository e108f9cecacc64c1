import { readFileSync } from "node:fs";
import { create, fromJson } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import { AgentSpecSchema, LimitsSchema, ModelCatalogSchema } from "@reeve/contracts/agent";
import { ToolCatalogSchema } from "@reeve/contracts/tool";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyMessage } from "../../test/any-message.ts";
import type { SpecInit } from "../../test/check.ts";
import { check, violationsOf } from "../../test/check.ts";
import { offer, tool } from "../../test/offer.ts";
import { resolveAgent } from "../resolve/resolve-agent.ts";
import { checkSpec } from "./check-spec.ts";
import { defaultAgentId } from "./default-agent-id.ts";
import { unrestricted } from "../policy/caller-policy.ts";
import { parseSpecFile } from "./spec-file.ts";

const example = readFileSync(
  new URL("../../test/configured-example.json", import.meta.url),
  "utf8",
);

describe("a spec is valid", () => {
  test("with a name and a model", () => {
    expect(check({})).toMatchObject({ violations: [], warnings: [] });
  });

  // Requirement: CFG-10
  test("with every field that this version supports", () => {
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
      retry: { maxRetries: 5, initialBackoff: { seconds: 1n }, maxBackoff: { seconds: 1n } },
    });
    expect(violations).toEqual([]);
    expect(warnings).toEqual([]);
  });
});

// Requirement: RES-2
test.each([
  ["retry", { initialBackoff: { seconds: 2n }, maxBackoff: { seconds: 1n } }],
  ["retry.max_backoff", { maxBackoff: { seconds: -1n } }],
  ["retry.max_elapsed", { maxElapsed: { seconds: 0n } }],
  ["retry.max_retries", { maxRetries: 10_001 }],
])("a malformed section for retries is a violation of %s", (field, retry) => {
  expect(check({ retry }).violations).toMatchObject([{ field }]);
});

// Requirement: DUR-6
test("a temperature that a model does not accept causes a warning", () => {
  const models = create(ModelCatalogSchema, {
    models: [
      { id: "default", provider: "openai" },
      { id: "script", provider: "scripted" },
    ],
    providers: [{ name: "openai", capabilities: { temperature: false } }, { name: "scripted" }],
  });
  const warning =
    'temperature: the model "default" of the provider openai accepts none, so it is not sent';
  const other = { model: "script", planningModel: "default", temperature: 0 };
  expect(check({ temperature: 0.2 }, { ...offer, models }).warnings).toEqual([warning]);
  expect(check({}, { ...offer, models }).warnings).toEqual([]);
  expect(check(other, { ...offer, models }).warnings).toEqual([]);
  expect(check({ ...other, planningEnabled: true }, { ...offer, models }).warnings).toEqual([
    warning,
  ]);
  const spec = create(AgentSpecSchema, { model: "default", temperature: 1 });
  const resolved = resolveAgent(
    spec,
    { ...offer, models },
    { isEditor: false, extraTools: [], policy: unrestricted },
  );
  expect(resolved.warnings).toEqual([warning]);
});

describe("a spec is stored with", () => {
  // Requirement: CFG-14
  test("the value of max_steps in max_rounds", () => {
    const { spec } = check({ maxSteps: 12 });
    expect(spec.maxRounds).toBe(12);
    expect(spec.maxSteps).toBeUndefined();
  });

  test("an id derived from its name, if it has none", () => {
    expect(check({ name: "Ops Supervisor (v2)" }).spec.id).toBe("ops-supervisor-v2");
    expect(check({ id: "mine", name: "Ops" }).spec.id).toBe("mine");
    expect(defaultAgentId(`--${"x".repeat(62)} y`)).toBe("x".repeat(62));
  });

  // Requirement: CFG-12
  test("its defaults left unset", () => {
    const { spec } = check({});
    expect([spec.emitMcpProgress, spec.maxParallelSubagents, spec.maxRounds]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  test("the original message unchanged", () => {
    const original = create(AgentSpecSchema, { name: "a", model: "default", maxSteps: 3 });
    checkSpec(original, offer);
    expect(original).toMatchObject({ id: "", maxSteps: 3 });
    expect(original.maxRounds).toBeUndefined();
  });
});

// Requirement: CFG-14
test("the configured example is valid once its tools exist", () => {
  const tools = ["deploy_service", "rotate_credentials"].map((name) => tool(name));
  const catalogs = [...offer.tools, create(ToolCatalogSchema, { pool: "ops", tools })];
  const spec = parseSpecFile(example, "example.json");
  const { violations, spec: stored } = checkSpec(spec, { ...offer, tools: catalogs });
  expect(violations).toEqual([]);
  expect(stored).toMatchObject({ id: "ops-supervisor", maxRounds: 12 });
});

describe("the limits of a spec", () => {
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

  // Requirement: TURN-5
  test("may be raised up to the maxima of the deployment, but no further", () => {
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

  test("must let a run make progress", () => {
    expect(violationsOf({ budgets: { maxParallel: 0, maxResultBytes: 10 } })).toEqual([
      expect.stringContaining("budgets.max_parallel"),
      expect.stringContaining("budgets.max_result_bytes"),
    ]);
  });
});

describe("a spec has a warning", () => {
  // Requirement: CFG-5
  test("for an MCP server that has never listed its tools, which therefore may exist", () => {
    const { violations, warnings } = check({
      mcpServers: ["maps"],
      hitlTools: ["mcp__maps__route"],
    });
    expect(violations).toEqual([]);
    expect(warnings).toEqual([
      'mcp_servers: "maps" has not listed any tools yet; the servers that have: weather',
      expect.stringMatching(/^hitl_tools: .*"mcp__maps__route"/),
    ]);
  });

  // Requirement: CFG-5
  test("but a violation for such a tool if the filter removes it", () => {
    const excludedToolPatterns = ["mcp__maps__*"];
    const init = { mcpServers: ["maps"], hitlTools: ["mcp__maps__route"], excludedToolPatterns };
    expect(violationsOf(init)).toEqual(["hitl_tools[0]: TOOL_NOT_FOUND"]);
  });

  // Requirement: RES-9
  test("for a tool that it names and that policy excludes", () => {
    const allowedTools = fromJson(ListValueSchema, ["grep", "execute_code"]);
    expect(check({ allowedTools }).warnings).toEqual([
      expect.stringMatching(/"execute_code": it needs the permission class execute/),
    ]);
  });
});

test("a tool that does not exist is reported with the closest name", () => {
  const allowedTools = fromJson(ListValueSchema, ["write_fil"]);
  const { warnings, violations } = check({ allowedTools, hitlTools: ["write_fil"] });
  expect(warnings).toContain(
    'allowed_tools[0]: the tool "write_fil" does not exist at the moment; did you mean write_file?',
  );
  expect(violations).toMatchObject([{ field: "hitl_tools[0]", reason: "TOOL_NOT_FOUND" }]);
});

test("any spec can be checked, and the stored form does not change when it is checked again", () => {
  fc.assert(
    fc.property(anyMessage(AgentSpecSchema), (init) => {
      const checked = checkSpec(create(AgentSpecSchema, init), offer);
      const again = checkSpec(checked.spec, offer);
      expect(again.spec).toEqual(checked.spec);
      expect(again.violations.length).toBeLessThanOrEqual(checked.violations.length);
    }),
  );
});
