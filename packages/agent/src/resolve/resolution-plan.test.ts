import type { JsonValue } from "@bufbuild/protobuf";
import { create, fromJson } from "@bufbuild/protobuf";
import { ListValueSchema, ValueSchema } from "@bufbuild/protobuf/wkt";
import { ModelCatalogSchema, ProviderDescriptorSchema } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import { RunPreparedSchema } from "@reeve/contracts/run";
import { ToolCatalogSchema } from "@reeve/contracts/tool";
import { describe, expect, test } from "vitest";
import type { SpecInit } from "../../test/check.ts";
import { violationsOf } from "../../test/check.ts";
import { offer, tool } from "../../test/offer.ts";
import type { RuleLine } from "../../test/permissions.ts";
import { permission } from "../../test/permissions.ts";
import { decided, specOf, under } from "../../test/policies.ts";
import { unrestricted } from "../policy/caller-policy.ts";
import { planOfRun, recordedPlan } from "./recorded-plan.ts";
import { resolveAgent } from "./resolve-agent.ts";

const resolve = (init: SpecInit, offered = offer, policy = unrestricted) =>
  resolveAgent(specOf(init), offered, under(policy));
const planOf = (...args: Parameters<typeof resolve>) => resolve(...args).plan;
const hashOf = (stop: JsonValue) =>
  planOf({ sections: { stop: fromJson(ValueSchema, stop) } }).hash;
/** What runtimes announce that call remote agents. */
const remoteAgents = create(ProviderDescriptorSchema, {
  name: "a2a",
  capabilities: { tools: true },
});
const withRemotes = {
  ...offer,
  models: { ...offer.models, providers: [...offer.models.providers, remoteAgents] },
};
const listed = (...names: string[]) => fromJson(ListValueSchema, names);

// Requirement: RES-1, RES-8
describe("the plan of an agent", () => {
  test("has each tool with its class, its source, and what admits it", () => {
    const { tools } = planOf({
      allowedTools: listed("read_file"),
      allowedToolPatterns: listed("mcp__*"),
      mcpServers: ["weather"],
    });
    const shown = tools.map(({ name, permissionClass, source, admittedBy }) =>
      [name, permissionClass, source, admittedBy].join(" | "),
    );
    expect(shown).toEqual([
      "mcp__weather__forecast | network | mcp:weather | allowed_tool_patterns: mcp__*",
      "read_file | workspace_write | builtin | allowed_tools",
      "retrieve_artifact | knowledge | runtime | companion",
    ]);
    expect(planOf({}).tools.every(({ admittedBy }) => admittedBy === "default")).toBe(true);
  });

  test("says what excludes each other tool that is offered", () => {
    const policy = decided("rules: [{ name: no-grep, deny: { tools: [grep] } }]");
    const init = {
      excludedTools: ["publish_report"],
      excludedToolPatterns: ["write_*"],
      sections: permission("allow", "deny read_file"),
    };
    const { excludedTools, excludedCount } = planOf(init, offer, policy);
    const by = new Map(excludedTools.map(({ name, excludedBy }) => [name, excludedBy]));
    expect(by.get("publish_report")).toBe("excluded_tools");
    expect(by.get("write_file")).toBe("excluded_tool_patterns: write_*");
    expect(by.get("grep")).toBe("policy: no-grep");
    expect(by.get("read_file")).toContain("permission rule read_file of the agent");
    expect(by.get("run_command")).toBe("");
    expect(excludedTools.find(({ name }) => name === "run_command")?.reason).toContain("execute");
    expect(excludedCount).toBe(excludedTools.length);
  });

  test.each<[string, SpecInit, string, readonly string[]]>([
    ["allow", {}, "grep", []],
    ["ask", { hitlTools: ["grep"] }, "grep", ["hitl_tools"]],
    [
      "ask",
      { sections: permission("ask", "allow read_file") },
      "grep",
      ["ask by default_behavior"],
    ],
    ["allow", { sections: permission("ask", "allow read_file") }, "read_file", ["allow read_file"]],
    ["allow", { sections: permission("deny") }, "add_todo", []],
    [
      "depends",
      { sections: permission("ask", "deny grep(*.key)", "allow grep(*.md)") },
      "grep",
      ["deny grep(*.key)", "allow grep(*.md)", "ask by default_behavior"],
    ],
    [
      "depends",
      { hitlTools: ["grep"], sections: permission("allow", "deny grep(*.key)") },
      "grep",
      ["hitl_tools", "deny grep(*.key)", "allow by default_behavior"],
    ],
    ["ask", { questions: {} }, "ask_user", ["questions"]],
  ])("says %s before the calls of a tool", (calls, init, name, rules) => {
    const planned = planOf(init).tools.find((each) => each.name === name);
    expect(planned).toMatchObject({ calls, callRules: rules });
  });

  test("has the same hash exactly if it is the same, whatever else is offered", () => {
    const { hash } = planOf({});
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(planOf({ instructions: "other" }).hash).toBe(hash);
    const more = create(ToolCatalogSchema, { tools: [tool("x", { source: "mcp:other" })] });
    expect(planOf({}, { ...offer, tools: [...offer.tools, more] }).hash).toBe(hash);
    const others: readonly SpecInit[] = [
      { excludedTools: ["grep"] },
      { hitlTools: ["grep"] },
      { maxRounds: 3 },
      { model: "script" },
      { contextPolicy: {} },
    ];
    expect(new Set([hash, ...others.map((init) => planOf(init).hash)]).size).toBe(6);
  });

  test("has another hash if a section that a plugin reads says something else, in whatever order", () => {
    const hash = hashOf({ tools: ["grep"], consecutive_errors: 2 });
    expect(hashOf({ consecutive_errors: 2, tools: ["grep"] })).toBe(hash);
    expect(hashOf({ tools: ["grep"], consecutive_errors: 3 })).not.toBe(hash);
  });

  test("has no tools if the model calls none", () => {
    const models = create(ModelCatalogSchema, {
      models: [{ id: "plain", provider: "openai", upstreamName: "x", capabilities: {} }],
      providers: offer.models.providers,
    });
    const resolved = resolve({ model: "plain" }, { ...offer, models });
    expect(resolved.tools).toEqual([]);
    expect(resolved.plan.tools).toEqual([]);
  });

  test("has the tool that ends a run whose answer has a schema, which no permission rule is about", () => {
    const outputSchema = { type: "object" };
    const sections = permission("deny");
    const { tools, hash } = planOf({ outputSchema, sections });
    expect(tools.at(-1)).toMatchObject({
      name: "finish_subtask",
      admittedBy: "output_schema",
      calls: "allow",
    });
    expect(hash).not.toBe(planOf({ sections }).hash);
  });

  test("says that calls of a tool depend although another level has many rules", () => {
    const policy = decided(
      'rules: [{ name: r, permission: { rules: [{ tool: "grep(*.key)", behavior: deny }] } }]',
    );
    const many = Array.from({ length: 25 }, (_, index): RuleLine => `ask grep(${index})`);
    const init = { hitlTools: ["grep"], sections: permission("allow", ...many) };
    const planned = planOf(init, offer, policy).tools.find(({ name }) => name === "grep");
    expect(planned).toMatchObject({ calls: "depends" });
    expect(planned?.callRules).toHaveLength(20);
  });

  test("is the same after it was recorded", () => {
    const init = { planningEnabled: true, fallbackModels: ["script"], hitlTools: ["grep"] };
    const { plan, executor, planner, fallbacks, tools, limits } = resolve(init);
    const prepared = create(RunPreparedSchema, {
      ...(executor && { model: executor.model }),
      ...(planner && { planningModel: planner.model }),
      fallbacks: fallbacks.map(({ model }) => ({ model })),
      tools: [...tools],
      limits,
      plan: recordedPlan(plan),
    });
    expect(planOfRun(prepared)).toEqual(plan);
    expect(planOfRun(create(RunPreparedSchema))).toBeUndefined();
  });
});

// Requirement: RES-2
test.each<[string, SpecInit]>([
  ["model", { model: "gone" }],
  ["planning_model", { planningEnabled: true, planningModel: "gone" }],
  ["fallback_models[1]", { fallbackModels: ["script", "gone"] }],
])("a refused resolution names the field %s of a model that does not exist", (field, init) => {
  const violations = [expect.objectContaining({ field, reason: "MODEL_NOT_FOUND" })];
  expect(() => resolve(init)).toThrow(expect.objectContaining({ violations }));
});

// Requirement: RES-3
describe("an agent with an endpoint", () => {
  test("is refused by the name of what is wrong with it", () => {
    expect(violationsOf({ endpoint: { url: "ftp://x", protocol: "a2a" } })).toEqual([
      "endpoint.url: INVALID_REMOTE_ENDPOINT_CONFIG",
      "endpoint.protocol: UNSUPPORTED_REMOTE_BACKEND",
    ]);
    expect(violationsOf({ endpoint: { url: "https://x.example", protocol: "smoke" } })).toEqual([
      "endpoint.protocol: UNSUPPORTED_REMOTE_BACKEND",
    ]);
  });

  test("is resolved with the remote agent as its model, and may only ask people", () => {
    const endpoint = { url: "https://x.example/a", protocol: "a2a" };
    const { executor, tools } = resolve({ model: "", endpoint }, withRemotes);
    expect(executor?.model).toMatchObject({ provider: "a2a", upstreamName: "https://x.example/a" });
    expect(tools.map(({ name }) => name)).toEqual(["ask_user"]);
  });

  test("is the only one that has a remote agent as its model", () => {
    const model = "a2a:https://x.example/a";
    expect(violationsOf({ model }, withRemotes)).toEqual(["model: PROVIDER_NOT_FOUND"]);
    expect(violationsOf({ fallbackModels: [model] }, withRemotes)).toEqual([
      "fallback_models[0]: PROVIDER_NOT_FOUND",
    ]);
    const endpoint = { url: "https://x.example/a" };
    expect(violationsOf({ model: "", endpoint }, withRemotes)).toEqual([]);
  });

  test("has no fields that would be ignored", () => {
    const endpoint = { url: "https://x.example/a" };
    expect(violationsOf({ model: "", endpoint }, withRemotes)).toEqual([]);
    const init = { model: "script", endpoint, instructions: "Be kind.", hitlTools: ["grep"] };
    expect(violationsOf(init, withRemotes)).toEqual(
      expect.arrayContaining([
        "model: UNSUPPORTED_CAPABILITY",
        "instructions: UNSUPPORTED_CAPABILITY",
        "hitl_tools: UNSUPPORTED_CAPABILITY",
      ]),
    );
  });

  test("cannot be resolved as a local agent", () => {
    const reason = ErrorReason.REMOTE_AGENT_NOT_DIRECTLY_RUNNABLE;
    const init = { endpoint: { url: "https://x.example", protocol: "a2a" } };
    expect(() => resolve(init)).toThrow(expect.objectContaining({ reason }));
  });
});

// Requirement: RES-9
test("each warning about tools has its path and the name of its rule", () => {
  const { details } = resolve({
    allowedTools: listed("read_file", "reed_file"),
    excludedTools: ["grep(x)"],
    excludedToolPatterns: ["zip_*"],
    sections: {
      permission: fromJson(ValueSchema, {
        rules: [
          { tool: "write_file", behavior: "ask" },
          { tool: "nothing", behavior: "ask" },
        ],
      }),
      other: fromJson(ValueSchema, {}),
      stop: fromJson(ValueSchema, { tools: ["read_file", "gone"] }),
    },
  });
  expect(details.map(({ field, reason }) => `${field}: ${reason}`)).toEqual([
    "sections.other: UNCLAIMED_SECTION",
    "allowed_tools[1]: UNKNOWN_TOOL",
    "excluded_tools[0]: PERMISSION_SHAPED_ENTRY",
    "excluded_tool_patterns[0]: UNMATCHED_PATTERN",
    "sections.permission.rules[0]: ORPHAN_PERMISSION_RULE",
    "sections.permission.rules[1]: UNMATCHED_PERMISSION_RULE",
    "sections.stop.tools[1]: UNKNOWN_TOOL",
  ]);
});
