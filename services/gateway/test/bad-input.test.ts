import { RunStatus } from "@reeve/contracts/run";
import { Role } from "@reeve/contracts/thread";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { BenchWithAgent } from "./support/bench-with-agent.ts";
import { unknownRun, openBenchWithAgent } from "./support/bench-with-agent.ts";
import type { Protocol } from "./support/clients.ts";
import { protocols, refusalOf } from "./support/clients.ts";
import { tokens } from "./support/gateway-bench.ts";

let bench: BenchWithAgent;

beforeAll(async () => {
  bench = await openBenchWithAgent();
});

afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

describe.each(Object.keys(protocols) as Protocol[])("over %s", (protocol) => {
  const client = () => bench.as(protocol, `Bearer ${tokens.acme}`);

  test("an unknown run is refused with its id, by every method", async () => {
    const { runs } = client();
    const refusal = {
      kind: "not_found",
      reason: "RUN_NOT_FOUND",
      message: `run ${unknownRun} not found; list the runs for their ids`,
      metadata: { run_id: unknownRun },
      fields: [],
    };
    expect(await refusalOf(runs.getRun({ runId: unknownRun }))).toEqual(refusal);
    expect(await refusalOf(runs.watchRun({ runId: unknownRun }))).toEqual(refusal);
    expect(await refusalOf(runs.cancelRun({ runId: unknownRun }))).toEqual(refusal);
    expect(await refusalOf(runs.sendMessage({ runId: unknownRun, text: "hello" }))).toEqual(
      refusal,
    );
  });

  test("all invalid fields of a request are reported together", async () => {
    const labels = Object.fromEntries(Array.from({ length: 33 }, (_, at) => [`label-${at}`, ""]));
    const started = client().runs.startRun({
      agentId: "Known",
      labels,
      messages: [{ role: Role.UNSPECIFIED, text: "" }],
      files: [{ artifactId: "../x", path: "" }],
    });
    const refusal = await refusalOf(started);
    expect(refusal).toMatchObject({ kind: "invalid", reason: "INVALID_REQUEST" });
    expect([...refusal.fields].toSorted()).toEqual([
      "agent_id STRING_PATTERN",
      "files[0].artifact_id STRING_PATTERN",
      "files[0].path STRING_MIN_LEN",
      "input STRING_MIN_LEN",
      "labels MAP_MAX_PAIRS",
      "messages[0].role ENUM_NOT_IN",
    ]);
  });

  test("files that would leave the workspace, collide, or do not exist are refused", async () => {
    const artifactId = "art_0123456789abcdef";
    const paths = ["../up", "/etc/passwd", "a//b", "twice.csv", "twice.csv"];
    const files = paths.map((path) => ({ artifactId, path }));
    const started = client().runs.startRun({ agentId: "known", input: "hello", files });
    const refusal = await refusalOf(started);
    expect(refusal).toMatchObject({ kind: "invalid", reason: "INVALID_REQUEST" });
    expect(refusal.fields).toEqual([
      "files[0].path MALFORMED",
      "files[1].path MALFORMED",
      "files[2].path MALFORMED",
      "files[4].path REPEATED",
      ...paths.map((_, index) => `files[${index}].artifact_id NOT_FOUND`),
    ]);
  });

  test("a sequence beyond the end is out of range, and the refusal has the last sequence", async () => {
    const runId = await bench.queued();
    expect(await refusalOf(client().runs.watchRun({ runId, afterSequence: 9 }))).toEqual({
      kind: "out_of_range",
      reason: "SEQUENCE_BEYOND_END",
      message: `run ${runId} has only 1 events; start after one of them, not after 9`,
      metadata: { run_id: runId, last_sequence: "1" },
      fields: [],
    });
  });

  test("a message that is too large is refused with the reason", async () => {
    const huge = "x".repeat(5 * 1024 * 1024);
    const started = client().runs.startRun({ agentId: "known", input: huge });
    expect(await refusalOf(started)).toMatchObject({ kind: "exhausted", reason: "TOO_LARGE" });
  });

  test("an input that is too large is a violation of its field", async () => {
    const started = client().runs.startRun({ agentId: "known", input: "x".repeat(262_145) });
    expect(await refusalOf(started)).toMatchObject({
      kind: "invalid",
      reason: "INVALID_REQUEST",
      fields: ["input STRING_MAX_BYTES"],
    });
  });

  test.each([
    ["no token", undefined],
    ["a wrong token", "Bearer unknown-token"],
    ["a token that is cut", `Bearer ${tokens.acme.slice(0, -1)}`],
    ["another scheme", `Basic ${tokens.acme}`],
  ])("a request with %s is refused", async (_, authorization) => {
    const { runs, agents } = bench.as(protocol, authorization);
    const refusal = { kind: "unauthenticated", reason: "UNAUTHENTICATED", fields: [] };
    expect(await refusalOf(runs.getRun({ runId: unknownRun }))).toMatchObject(refusal);
    expect(await refusalOf(runs.watchRun({ runId: unknownRun }))).toMatchObject(refusal);
    expect(await refusalOf(runs.startRun({}))).toMatchObject(refusal);
    expect(await refusalOf(agents.createAgent({}))).toMatchObject(refusal);
  });

  test("an invalid page token is refused", async () => {
    const refusal = {
      kind: "invalid",
      reason: "INVALID_REQUEST",
      fields: ["page_token MALFORMED"],
    };
    const { runs, threads } = client();
    expect(await refusalOf(runs.listRuns({ pageToken: "nonsense" }))).toMatchObject(refusal);
    expect(await refusalOf(threads.listThreads({ pageToken: "nonsense" }))).toMatchObject(refusal);
  });

  test("without the approvals service, approvals are unavailable and everything else works", async () => {
    const { approvals, runs } = client();
    const refusal = { kind: "unavailable", reason: "UNAVAILABLE" };
    expect(await refusalOf(approvals.listApprovals({}))).toMatchObject(refusal);
    expect(await refusalOf(approvals.watchApprovals({}))).toMatchObject(refusal);
    expect(await refusalOf(approvals.decideApproval({ approvalId: "x" }))).toMatchObject(refusal);
    expect((await runs.getRun({ runId: await bench.queued() })).run?.status).toBe(RunStatus.QUEUED);
  });

  test("an unknown artifact is refused with its id", async () => {
    for (const artifactId of ["art_0123456789abcdef", "../../etc", "*", "a.b"]) {
      expect(await refusalOf(client().artifacts.downloadArtifact({ artifactId }))).toMatchObject({
        kind: "not_found",
        reason: "ARTIFACT_NOT_FOUND",
        metadata: { artifact_id: artifactId },
      });
    }
  });

  test("an artifact over the size limit is refused", async () => {
    const content = new Uint8Array(1_001);
    const { artifacts } = client();
    const refusal = { kind: "exhausted", reason: "TOO_LARGE" };
    const stored = artifacts.createArtifact({ header: { name: "a" }, content });
    expect(await refusalOf(stored)).toMatchObject(refusal);
    expect(await refusalOf(artifacts.uploadArtifact(largeUpload()))).toMatchObject(refusal);
    // The connection is still usable.
    expect((await artifacts.listArtifacts({ runId: unknownRun })).artifacts).toEqual([]);
  });
});

/** Larger than the buffers of a connection that is not read. */
async function* largeUpload() {
  yield { part: { case: "header", value: { name: "a" } } } as const;
  for (let sent = 0; sent < 8; sent++) {
    yield { part: { case: "chunk", value: new Uint8Array(1024 * 1024) } } as const;
  }
}

/** Posts a request that no client library would send. */
function post(path: string, body: string, contentType = "application/json") {
  const headers = { "content-type": contentType, authorization: `Bearer ${tokens.acme}` };
  return fetch(`${bench.url}/${path}`, { method: "POST", headers, body });
}

/** Returns the violations with which a request is refused. */
async function violationsOf(path: string, body: string): Promise<readonly string[]> {
  const response = await post(path, body);
  expect(response.status).toBe(400);
  const { details } = (await response.json()) as {
    details: { debug: { fieldViolations?: { field: string; reason: string }[] } }[];
  };
  const violations = details.flatMap(({ debug }) => debug.fieldViolations ?? []);
  return violations.map(({ field, reason }) => `${field} ${reason}`).toSorted();
}

describe("plain HTTP", () => {
  test.each([
    ["no JSON", "{"],
    ["a field of another type", '{"agentId":7}'],
    ["no object", "[]"],
  ])("with %s is refused", async (_, body) => {
    const response = await post("reeve.run.v1.RunService/StartRun", body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: "invalid_argument" });
  });

  // Requirement: PERM-2, CHAT-1
  test("with a list of tools, or a mode, is accepted without them, and with a warning", async () => {
    const body = '{"agentId":"known","input":"x","tools":["run_command"],"agent_mode":true}';
    const response = await post("reeve.run.v1.RunService/StartRun", body);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      warnings: [
        expect.stringContaining("tools: ignored"),
        expect.stringContaining("agent_mode: deprecated"),
      ],
    });
  });

  // Requirement: CFG-11
  test("with unknown, mistyped, and invalid fields is refused with all of them", async () => {
    const body = `{"agentId":"Known","input":7,"cancelOnDisconect":true,"maxCost":1,
      "files":[{"artifactId":"../x","path":"a"},3],"on_busy":"ON_BUSY_PANIC"}`;
    expect(await violationsOf("reeve.run.v1.RunService/StartRun", body)).toEqual([
      "agent_id STRING_PATTERN",
      "cancelOnDisconect UNKNOWN_FIELD",
      "files[0].artifact_id STRING_PATTERN",
      "files[1] MISTYPED",
      "input MISTYPED",
      "maxCost UNKNOWN_FIELD",
      "on_busy MISTYPED",
    ]);
  });

  // Requirement: CFG-11
  test("with unknown, mistyped, and invalid fields in a spec is refused with all of them", async () => {
    const body = `{"spec":{"name":3,"model":"nobody:x","hitl_tool":["deploy"],"max_rounds":"many",
      "budgetAwareness":"limit:101","hitlTools":["gone",4,"lost"],"deep_agent":{"sudo":true}},
      "dry_run":true}`;
    const inSpec = [
      "spec.budget_awareness MALFORMED",
      "spec.deep_agent.sudo UNKNOWN_FIELD",
      "spec.hitl_tool UNKNOWN_FIELD",
      "spec.hitl_tools[0] TOOL_NOT_FOUND",
      "spec.hitl_tools[1] MISTYPED",
      "spec.hitl_tools[2] TOOL_NOT_FOUND",
      "spec.max_rounds MISTYPED",
      "spec.model PROVIDER_NOT_FOUND",
      "spec.name MISTYPED",
    ];
    const withoutOption = body.replace(/,\s*"dry_run":true/, "");
    const method = "reeve.agent.v1.AgentService/CreateAgent";
    expect(await violationsOf(method, withoutOption)).toEqual(inSpec);
    expect(await violationsOf(method, body)).toEqual(["dry_run UNKNOWN_FIELD"]);
  });

  test("to an unknown method or path is not found", async () => {
    for (const path of ["reeve.run.v1.RunService/Explode", "reeve.run.v9.Nothing/At", "nothing"]) {
      expect((await post(path, "{}")).status).toBe(404);
    }
  });

  test("with another media type is refused", async () => {
    const response = await post("reeve.run.v1.RunService/StartRun", "hello", "text/plain");
    expect(response.status).toBe(415);
  });
});
