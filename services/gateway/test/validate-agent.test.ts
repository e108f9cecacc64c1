import type { JsonValue } from "@bufbuild/protobuf";
import { create, fromJson } from "@bufbuild/protobuf";
import { ListValueSchema, ValueSchema } from "@bufbuild/protobuf/wkt";
import { ModelCatalogSchema } from "@reeve/contracts/agent";
import { RunPreparedSchema } from "@reeve/contracts/run";
import { PermissionClass, ToolCatalogSchema } from "@reeve/contracts/tool";
import { openTable } from "@reeve/jetstream/table/nats";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { BenchWithAgent } from "./support/bench-with-agent.ts";
import { openBenchWithAgent } from "./support/bench-with-agent.ts";
import { refusalOf } from "./support/clients.ts";

const never = new AbortController().signal;
let bench: BenchWithAgent;

beforeAll(async () => {
  bench = await openBenchWithAgent();
  const models = await openTable(bench.nats, ModelCatalogSchema);
  const catalog = create(ModelCatalogSchema, {
    models: [
      { id: "known", provider: "scripted", upstreamName: "known" },
      { id: "one", provider: "scripted", upstreamName: "gone", contextWindow: 1 },
      { id: "two", provider: "scripted", upstreamName: "gone", contextWindow: 2 },
    ],
    providers: [{ name: "scripted", scripted: true, upstreamNames: ["known", "gone"] }],
    skills: [{ name: "tables", description: "Draws tables.", digest: "abc" }],
  });
  await models.put("default", catalog, never);
  await vi.waitFor(
    async () => {
      const listed = await bench.acme.agents.listModels({});
      if (listed.models.length !== 3) throw new Error("the models are not known yet");
    },
    { timeout: 20_000 },
  );
});

afterAll(() => bench[Symbol.asyncDispose]());

const section = (value: JsonValue) => fromJson(ValueSchema, value);
const named = (...names: string[]) => fromJson(ListValueSchema, names);
const validate = (spec: object) =>
  bench.acme.agents.validateAgent({
    spec: { id: "checked", name: "checked", model: "known", ...spec },
  });

// Requirement: RES-2, RES-3, RES-4, RES-6, RES-7
test.each<[string, object, readonly string[]]>([
  ["a model that does not exist", { model: "gpt" }, ["model MODEL_NOT_FOUND"]],
  ["an ambiguous model", { model: "scripted:gone" }, ["model AMBIGUOUS_MODEL_REFERENCE"]],
  ["a provider that does not exist", { model: "x:y" }, ["model PROVIDER_NOT_FOUND"]],
  ["a skill that does not exist", { skills: ["tabels"] }, ["skills[0] SKILL_NOT_FOUND"]],
  ["a plugin that does not exist", { pluginIds: ["p"] }, ["plugin_ids[0] PLUGIN_NOT_FOUND"]],
  [
    "a section that does not fit",
    { sections: { retry: section({ max_retries: -1 }) } },
    ["sections.retry.max_retries INVALID_PLUGIN_CONFIG"],
  ],
  ["a delegate that does not exist", { delegates: ["nobody"] }, ["delegates[0] AGENT_NOT_FOUND"]],
  ["an agent that calls itself", { delegates: ["checked"] }, ["delegates[0] DELEGATE_CYCLE"]],
  [
    "an endpoint that is none",
    { endpoint: { url: "x", protocol: "a2a" } },
    ["endpoint.url INVALID_REMOTE_ENDPOINT_CONFIG", "endpoint.protocol UNSUPPORTED_REMOTE_BACKEND"],
  ],
])("%s is a violation with its path and how to fix it", async (_, spec, expected) => {
  const { violations, plan } = await validate(spec);
  expect(violations.map(({ field, reason }) => `${field} ${reason}`)).toEqual(expected);
  expect(violations.every(({ description }) => description.length > 10)).toBe(true);
  expect(plan).toBeUndefined();
});

// Requirement: RES-9
test("each mistake that does not prevent a run is a warning with its path", async () => {
  const { violations, warningDetails, warnings, plan } = await validate({
    allowedTools: named("read_file", "gone"),
    excludedTools: ["add_todo(x)"],
    excludedToolPatterns: ["web_*"],
    sections: {
      permission: section({ rules: [{ tool: "add_todo", behavior: "ask" }] }),
      permision: section({}),
    },
  });
  expect(violations).toEqual([]);
  expect(warningDetails.map(({ field, reason }) => `${field} ${reason}`)).toEqual([
    "sections.permision UNCLAIMED_SECTION",
    "allowed_tools[1] UNKNOWN_TOOL",
    "excluded_tools[0] PERMISSION_SHAPED_ENTRY",
    "excluded_tool_patterns[0] UNMATCHED_PATTERN",
    "sections.permission.rules[0] ORPHAN_PERMISSION_RULE",
  ]);
  expect(warnings).toEqual(
    warningDetails.map(({ field, description }) => `${field}: ${description}`),
  );
  expect(plan?.tools.map(({ name }) => name)).toEqual(["read_file", "retrieve_artifact"]);
});

test("a registry that could not be stored is refused, before a spec is checked against it", async () => {
  const models = Array.from({ length: 501 }, (_, n) => ({ spec: { id: `m${n}`, provider: "p" } }));
  const validating = bench.acme.agents.validateAgent({
    spec: { id: "checked", name: "checked", model: "known" },
    registry: { models },
  });
  await expect(validating).rejects.toThrow(/registry\.models.*more than 500 models/);
});

// Requirement: CFG-17
test("the plan of an agent with skills has their digests, and the tool that opens them", async () => {
  const { violations, plan, warnings } = await validate({
    skills: ["tables"],
    allowedTools: named("add_todo"),
  });
  expect(violations).toEqual([]);
  expect(plan?.skills).toMatchObject([{ name: "tables", digest: "abc" }]);
  expect(plan?.tools.map(({ name, admittedBy }) => `${name} ${admittedBy}`)).toEqual([
    "add_todo allowed_tools",
    "open_skill companion",
  ]);
  expect(plan?.hash).not.toBe((await validate({ allowedTools: named("add_todo") })).plan?.hash);
  expect(warnings).toEqual([]);
  const without = await validate({ skills: ["tables"], excludedTools: ["open_skill"] });
  expect(without.warnings).toEqual([expect.stringContaining("the agent cannot open them")]);
  expect((await bench.acme.agents.listModels({})).skills).toMatchObject([{ name: "tables" }]);
});

// Requirement: RES-1, RES-11
test("a run names the revision of its agent and the hash of its plan, whatever becomes of the agent", async () => {
  const spec = { id: "kept", name: "kept", model: "known" };
  await bench.acme.agents.createAgent({ spec });
  const { run } = await bench.acme.runs.startRun({ agentId: "kept", input: "go" });
  const runId = run?.runId ?? "";
  const tool = { name: "read_file", source: "builtin", permissionClass: PermissionClass.SAFE };
  const planned = { name: "read_file", admittedBy: "default", calls: "allow" };
  const value = {
    model: { id: "known", provider: "scripted", upstreamName: "known" },
    tools: [tool],
    plan: { hash: "abc", tools: [planned], plugins: [{ id: "budgets", origin: "builtin" }] },
  };
  await bench.append(runId, { case: "runPrepared", value: create(RunPreparedSchema, value) });
  await bench.acme.agents.updateAgent({ spec: { ...spec, excludedTools: ["read_file"] } });
  await bench.acme.agents.deleteAgent({ agentId: "kept" });
  expect(await bench.acme.runs.getRun({ runId, includePlan: true })).toMatchObject({
    run: { agentRevision: 1, planHash: "abc" },
    plan: {
      hash: "abc",
      tools: [{ ...planned, source: "builtin", permissionClass: "safe" }],
      models: [{ role: "executor", id: "known" }],
    },
  });
  expect((await bench.acme.runs.getRun({ runId })).plan).toBeUndefined();
});

// Requirement: RES-2, RES-7
test("two sources of one tool are a violation, and no run of a stored agent starts", async () => {
  const tools = await openTable(bench.nats, ToolCatalogSchema);
  const inputSchema = { type: "object" };
  const read = { name: "read_file", source: "provider:x", pool: "b", inputSchema };
  await tools.put("b", create(ToolCatalogSchema, { pool: "b", tools: [read] }), never);
  await vi.waitFor(
    async () => {
      const { violations } = await validate({});
      expect(violations.map(({ reason }) => reason)).toEqual(["TOOL_ID_CONFLICT"]);
    },
    { timeout: 20_000 },
  );
  const started = bench.acme.runs.startRun({ agentId: "known", input: "go" });
  expect(await refusalOf(started)).toMatchObject({
    kind: "precondition",
    reason: "TOOL_ID_CONFLICT",
  });
  const explained = bench.acme.agents.explainAgent({ agentId: "known" });
  expect(await refusalOf(explained)).toMatchObject({ reason: "TOOL_ID_CONFLICT" });
});
