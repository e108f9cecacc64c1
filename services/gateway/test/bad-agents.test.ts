import { create } from "@bufbuild/protobuf";
import { AgentSpecSchema, EndpointSchema } from "@reeve/contracts/agent";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { BenchWithAgent } from "./support/bench-with-agent.ts";
import { openBenchWithAgent, specOf } from "./support/bench-with-agent.ts";
import type { Protocol } from "./support/clients.ts";
import { protocols, refusalOf } from "./support/clients.ts";
import { tokens } from "./support/gateway-bench.ts";

let bench: BenchWithAgent;

beforeAll(async () => {
  bench = await openBenchWithAgent();
  const executes = { ...specOf("executes"), permissionClasses: ["execute"] };
  await bench.acme.agents.createAgent({ spec: executes });
});

afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

describe.each(Object.keys(protocols) as Protocol[])("over %s", (protocol) => {
  const client = () => bench.as(protocol, `Bearer ${tokens.acme}`);

  // Requirement: RES-2
  test("an unknown agent is refused with its id", async () => {
    const started = client().runs.startRun({ agentId: "missing", input: "hello" });
    const refusal = {
      kind: "not_found",
      reason: "AGENT_NOT_FOUND",
      message: "agent missing not found; create it first",
      metadata: { agent_id: "missing" },
      fields: [],
    };
    expect(await refusalOf(started)).toEqual(refusal);
    expect(await refusalOf(client().agents.getAgent({ agentId: "missing" }))).toEqual(refusal);
  });

  // Requirement: CFG-11
  test("all violations of a spec are reported together, each with its path", async () => {
    const spec = create(AgentSpecSchema, {
      id: "Not An Id",
      model: "nobody:model",
      maxRounds: 5,
      maxSteps: 6,
      maxParallelSubagents: 8,
      temperature: 3,
      budgetAwareness: "limit:101",
      hitlTools: ["read_file", "delete_world"],
      injectedToolArgs: { path: "why" },
      excludedToolPatterns: ["dangling\\"],
      permissionClasses: ["sudo"],
    });
    const refusal = await refusalOf(client().agents.createAgent({ spec }));
    expect(refusal).toMatchObject({ kind: "invalid", reason: "INVALID_AGENT" });
    expect([...refusal.fields].toSorted()).toEqual([
      "spec.budget_awareness MALFORMED",
      "spec.excluded_tool_patterns[0] MALFORMED",
      "spec.hitl_tools[1] TOOL_NOT_FOUND",
      "spec.id STRING_PATTERN",
      'spec.injected_tool_args["path"] ARGUMENT_COLLISION',
      "spec.max_parallel_subagents UINT32_GTE_LTE",
      "spec.max_steps CONTRADICTION",
      "spec.model PROVIDER_NOT_FOUND",
      "spec.name STRING_MIN_LEN",
      "spec.permission_classes[0] UNKNOWN_CLASS",
      "spec.temperature DOUBLE_GTE_LTE",
    ]);
  });

  test("a missing spec is reported", async () => {
    expect(await refusalOf(client().agents.createAgent({}))).toMatchObject({
      kind: "invalid",
      reason: "INVALID_AGENT",
      fields: ["spec REQUIRED"],
    });
  });

  // Requirement: CFG-10, DUR-6, DUR-7
  test("an unsupported feature is refused with the name of its field", async () => {
    const endpoint = create(EndpointSchema, {
      url: "https://other.example",
      protocol: "a2a",
    });
    const spec = { ...specOf("ambitious"), endpoint };
    expect(await refusalOf(client().agents.createAgent({ spec }))).toMatchObject({
      kind: "unsupported",
      reason: "UNSUPPORTED_REMOTE_BACKEND",
      fields: ["spec.endpoint.protocol UNSUPPORTED_REMOTE_BACKEND"],
    });
    const started = client().runs.startRun({
      agentId: "known",
      input: "hello",
      executor: "temporal",
    });
    expect(await refusalOf(started)).toMatchObject({
      kind: "unsupported",
      reason: "UNSUPPORTED_CAPABILITY",
      fields: ["executor UNSUPPORTED_CAPABILITY"],
      metadata: { executor: "temporal" },
    });
  });

  // Requirement: DUR-6
  test("a run whose tools need a sandbox is refused if no toolhost offers one", async () => {
    const started = client().runs.startRun({ agentId: "executes", input: "hello" });
    expect(await refusalOf(started)).toMatchObject({
      kind: "unsupported",
      reason: "UNSUPPORTED_CAPABILITY",
      message:
        'permission_classes needs sandbox, which the executor "nats" does not have here: no toolhost offers an isolating sandbox; start one that has bubblewrap',
      fields: ["permission_classes UNSUPPORTED_CAPABILITY"],
      metadata: { executor: "nats" },
    });
  });

  test("an unknown model is refused by name", async () => {
    const spec = { ...specOf("stranded"), model: "nothing" };
    expect(await refusalOf(client().agents.createAgent({ spec }))).toMatchObject({
      kind: "invalid",
      reason: "INVALID_AGENT",
      fields: ["spec.model MODEL_NOT_FOUND"],
    });
  });

  test("an existing id and a wrong revision are refused", async () => {
    const { agents } = client();
    expect(await refusalOf(agents.createAgent({ spec: specOf("known") }))).toMatchObject({
      kind: "exists",
      reason: "AGENT_EXISTS",
      metadata: { agent_id: "known" },
    });
    expect(
      await refusalOf(agents.updateAgent({ spec: specOf("known"), revision: 9 })),
    ).toMatchObject({
      kind: "conflict",
      reason: "REVISION_CONFLICT",
      metadata: { agent_id: "known", revision: "1" },
    });
    expect(await refusalOf(agents.updateAgent({ spec: specOf("unknown") }))).toMatchObject({
      kind: "not_found",
      reason: "AGENT_NOT_FOUND",
    });
  });

  test("a spec with too many violations is refused with the first ones and their number", async () => {
    const hitlTools = Array.from({ length: 900 }, (_, at) => `missing_${at}`);
    const spec = create(AgentSpecSchema, { ...specOf("long"), hitlTools });
    // A client that uses GET would exceed the length of a URL.
    const isGrpc = protocol === "gRPC" || protocol === "Connect with GET";
    const over = isGrpc ? bench.acme : client();
    const refusal = await refusalOf(over.agents.createAgent({ spec }));
    expect(refusal).toMatchObject({ kind: "invalid", reason: "INVALID_AGENT" });
    const { length } = refusal.fields;
    expect(length).toBeLessThanOrEqual(50);
    // The metadata of a gRPC client has room for fewer violations, and for less of the message.
    expect(length).toBeGreaterThan(isGrpc ? 5 : 20);
    const more = isGrpc ? /\d+ more violations/ : new RegExp(`${900 - length} more violations`);
    expect(refusal.message).toMatch(more);
    expect(refusal.message.length).toBeLessThan(8_192);
    const { violations, warnings } = await over.agents.validateAgent({ spec });
    expect(violations.length).toBeLessThanOrEqual(50);
    expect(warnings[0]).toBe(
      `${900 - violations.length} more violations are not listed; fix the others first`,
    );
  });
});

test("a list that is too long is one violation, whatever its entries", async () => {
  const hitlTools = Array.from({ length: 40_000 }, (_, at) => `mcp__${at}__t`);
  const spec = create(AgentSpecSchema, { ...specOf("long"), hitlTools });
  const refusal = await refusalOf(bench.acme.agents.createAgent({ spec }));
  expect(refusal.fields).toEqual(["spec.hitl_tools TOO_MANY_ENTRIES"]);
  expect(refusal.message).toContain("has 40000 entries; the limit is 1000");
});

test("a spec that is too large is refused with its largest field and the limit", async () => {
  const spec = create(AgentSpecSchema, { ...specOf("large"), instructions: "x".repeat(900_000) });
  const refusal = await refusalOf(bench.acme.agents.createAgent({ spec }));
  expect(refusal.fields).toEqual(["spec.instructions TOO_LARGE"]);
  expect(refusal.message).toMatch(/has 9000\d\d bytes, .*; the limit is 524288/);
});

test("an error is bounded, however long the names in a request are", async () => {
  const body = JSON.stringify({
    agentId: "known",
    input: "x",
    labels: { ["a.".repeat(1_000_000)]: "b" },
  });
  const headers = { "content-type": "application/json", authorization: `Bearer ${tokens.acme}` };
  for (const text of [body, JSON.stringify({ ["b.".repeat(1_000_000)]: 1 })]) {
    const response = await fetch(`${bench.url}/reeve.run.v1.RunService/StartRun`, {
      method: "POST",
      headers,
      body: text,
    });
    expect(response.status).toBe(400);
    expect((await response.arrayBuffer()).byteLength).toBeLessThan(64 * 1024);
  }
});
