import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import { OnBusy, RunStatus, StartRunRequestSchema } from "@reeve/contracts/run";
import { Role } from "@reeve/contracts/thread";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Clients, Protocol } from "./support/clients.ts";
import { clientsOf, protocols, refusalOf } from "./support/clients.ts";
import type { GatewayBench } from "./support/gateway-bench.ts";
import { openGatewayBench, tokens } from "./support/gateway-bench.ts";

let bench: GatewayBench;
let acme: Clients;
let globex: Clients;

beforeAll(async () => {
  bench = await openGatewayBench();
  acme = as("gRPC", `Bearer ${tokens.acme}`);
  globex = as("gRPC", `Bearer ${tokens.globex}`);
  await acme.agents.createAgent({ spec: specOf("known") });
  const executes = { ...specOf("executes"), permissionClasses: ["execute"] };
  await acme.agents.createAgent({ spec: executes });
});

afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

const noRun = "run_doesnotexist";

function as(protocol: Protocol, authorization: string | undefined): Clients {
  return clientsOf(bench.url, authorization, protocol);
}

function specOf(id: string) {
  return create(AgentSpecSchema, { id, name: id, model: "known" });
}

/** A run that waits for a runtime. */
async function queued(): Promise<string> {
  const { run } = await acme.runs.startRun({ agentId: "known", input: "hello" });
  return run?.runId ?? "";
}

describe.each(Object.keys(protocols) as Protocol[])("over %s", (protocol) => {
  const client = () => as(protocol, `Bearer ${tokens.acme}`);

  test("an agent that there is not is refused by name", async () => {
    const started = client().runs.startRun({ agentId: "nobody", input: "hello" });
    const refusal = {
      kind: "not_found",
      reason: "AGENT_NOT_FOUND",
      message: "there is no agent nobody; create it first",
      metadata: { agent_id: "nobody" },
      fields: [],
    };
    expect(await refusalOf(started)).toEqual(refusal);
    expect(await refusalOf(client().agents.getAgent({ agentId: "nobody" }))).toEqual(refusal);
  });

  test("a thread that there is not is refused by name, whatever is asked of it", async () => {
    const { threads } = client();
    const refusal = {
      kind: "not_found",
      reason: "THREAD_NOT_FOUND",
      message: "there is no thread t0; it comes to be with the first run that is started on it",
      metadata: { thread_id: "t0" },
      fields: [],
    };
    expect(await refusalOf(threads.getThread({ threadId: "t0" }))).toEqual(refusal);
    expect(await refusalOf(threads.listThreadMessages({ threadId: "t0" }))).toEqual(refusal);
    expect(await refusalOf(threads.deleteThread({ threadId: "t0" }))).toEqual(refusal);
  });

  test.each(["", "a.b", "a b", "*", ">", "../t", "ä", "x".repeat(129)])(
    "no thread can have the id %j",
    async (threadId) => {
      const { threads, runs } = client();
      const refusal = { kind: "invalid", fields: ["thread_id STRING_PATTERN"] };
      expect(await refusalOf(threads.getThread({ threadId }))).toMatchObject(refusal);
      expect(await refusalOf(threads.listThreadMessages({ threadId }))).toMatchObject(refusal);
      expect(await refusalOf(threads.deleteThread({ threadId }))).toMatchObject(refusal);
      // Without an id there is no thread, and a run needs none.
      if (threadId === "") return;
      const request = { agentId: "known", input: "hello", threadId };
      expect(await refusalOf(runs.startRun(request))).toMatchObject(refusal);
    },
  );

  test("what means nothing beside a thread, or without one, is refused by the name of its field", async () => {
    const { runs } = client();
    const request = { agentId: "known", input: "hello" };
    const alone = runs.startRun({ ...request, onBusy: OnBusy.QUEUE });
    expect(await refusalOf(alone)).toMatchObject({
      kind: "invalid",
      reason: "INVALID_REQUEST",
      fields: ["on_busy CONTRADICTION"],
    });
    const messages = [{ role: Role.USER, text: "before" }];
    expect(await refusalOf(runs.startRun({ ...request, threadId: "t0", messages }))).toMatchObject({
      kind: "invalid",
      reason: "INVALID_REQUEST",
      fields: ["messages CONTRADICTION"],
    });
    expect(await refusalOf(runs.startRun({ ...request, threadId: "t0", input: "" }))).toMatchObject(
      {
        kind: "invalid",
        fields: ["input STRING_MIN_LEN"],
      },
    );
  });

  test("a thread that is busy says with which run, and cannot be deleted", async () => {
    const { runs, threads } = client();
    const threadId = `busy-${randomUUID()}`;
    const request = { agentId: "known", input: "hello", threadId };
    const { run } = await runs.startRun(request);
    const refusal = {
      kind: "precondition",
      reason: "THREAD_BUSY",
      metadata: { thread_id: threadId, run_id: run?.runId },
    };
    expect(await refusalOf(runs.startRun(request))).toMatchObject(refusal);
    expect(await refusalOf(threads.deleteThread({ threadId }))).toMatchObject(refusal);
  });

  test("a run that there is not is refused by name, whatever is asked of it", async () => {
    const { runs } = client();
    const refusal = {
      kind: "not_found",
      reason: "RUN_NOT_FOUND",
      message: `there is no run ${noRun}`,
      metadata: { run_id: noRun },
      fields: [],
    };
    expect(await refusalOf(runs.getRun({ runId: noRun }))).toEqual(refusal);
    expect(await refusalOf(runs.watchRun({ runId: noRun }))).toEqual(refusal);
    expect(await refusalOf(runs.cancelRun({ runId: noRun }))).toEqual(refusal);
    expect(await refusalOf(runs.sendMessage({ runId: noRun, text: "hello" }))).toEqual(refusal);
  });

  test("everything that is wrong with a spec is said at once, each thing with its path", async () => {
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

  test("a spec that is missing is said to be", async () => {
    expect(await refusalOf(client().agents.createAgent({}))).toMatchObject({
      kind: "invalid",
      reason: "INVALID_AGENT",
      fields: ["spec REQUIRED"],
    });
  });

  test("what this version does not do is refused by the name of its field", async () => {
    const spec = { ...specOf("ambitious"), pluginIds: ["p"], delegates: ["other"] };
    expect(await refusalOf(client().agents.createAgent({ spec }))).toMatchObject({
      kind: "unsupported",
      reason: "UNSUPPORTED_CAPABILITY",
      fields: ["spec.plugin_ids UNSUPPORTED_CAPABILITY", "spec.delegates UNSUPPORTED_CAPABILITY"],
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

  test("a run whose tools need a sandbox is refused where nobody offers one", async () => {
    const started = client().runs.startRun({ agentId: "executes", input: "hello" });
    expect(await refusalOf(started)).toMatchObject({
      kind: "unsupported",
      reason: "UNSUPPORTED_CAPABILITY",
      message:
        'permission_classes needs sandbox, which the executor "nats" has not here: no toolhost offers an isolating sandbox; start one that has bubblewrap',
      fields: ["permission_classes UNSUPPORTED_CAPABILITY"],
      metadata: { executor: "nats" },
    });
  });

  test("every field of a request that breaks its contract is said at once", async () => {
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

  test("files that would leave the workspace, collide or do not exist are refused", async () => {
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

  test("a sequence beyond the end is out of range, and says where the end is", async () => {
    const runId = await queued();
    expect(await refusalOf(client().runs.watchRun({ runId, afterSequence: 9 }))).toEqual({
      kind: "out_of_range",
      reason: "SEQUENCE_BEYOND_END",
      message: `run ${runId} has 1 events; there is none after 9`,
      metadata: { run_id: runId, last_sequence: "1" },
      fields: [],
    });
  });

  test("a message that is too large is refused with what is too large", async () => {
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
    ["a wrong token", "Bearer token-of-nobody"],
    ["a token that is cut", `Bearer ${tokens.acme.slice(0, -1)}`],
    ["another scheme", `Basic ${tokens.acme}`],
  ])("whoever has %s is refused", async (_, authorization) => {
    const { runs, agents } = as(protocol, authorization);
    const refusal = { kind: "unauthenticated", reason: "UNAUTHENTICATED", fields: [] };
    expect(await refusalOf(runs.getRun({ runId: noRun }))).toMatchObject(refusal);
    expect(await refusalOf(runs.watchRun({ runId: noRun }))).toMatchObject(refusal);
    expect(await refusalOf(runs.startRun({}))).toMatchObject(refusal);
    expect(await refusalOf(agents.createAgent({}))).toMatchObject(refusal);
  });

  test("a page token that no page gave is refused", async () => {
    const refusal = {
      kind: "invalid",
      reason: "INVALID_REQUEST",
      fields: ["page_token MALFORMED"],
    };
    const { runs, threads } = client();
    expect(await refusalOf(runs.listRuns({ pageToken: "nonsense" }))).toMatchObject(refusal);
    expect(await refusalOf(threads.listThreads({ pageToken: "nonsense" }))).toMatchObject(refusal);
  });

  test("a page of the messages of a thread wants a token of such a page", async () => {
    const threadId = `paged-${randomUUID()}`;
    await client().runs.startRun({ agentId: "known", input: "hello", threadId });
    const { threads } = client();
    const listed = threads.listThreadMessages({ threadId, pageToken: "nonsense" });
    expect(await refusalOf(listed)).toMatchObject({ fields: ["page_token MALFORMED"] });
  });

  test("a model that there is not is refused by name", async () => {
    const spec = { ...specOf("stranded"), model: "nothing" };
    expect(await refusalOf(client().agents.createAgent({ spec }))).toMatchObject({
      kind: "invalid",
      reason: "INVALID_AGENT",
      fields: ["spec.model MODEL_NOT_FOUND"],
    });
  });

  test("approvals that is away is unavailable, and everything else goes on", async () => {
    const { approvals, runs } = client();
    const refusal = { kind: "unavailable", reason: "UNAVAILABLE" };
    expect(await refusalOf(approvals.listApprovals({}))).toMatchObject(refusal);
    expect(await refusalOf(approvals.watchApprovals({}))).toMatchObject(refusal);
    expect(await refusalOf(approvals.decideApproval({ approvalId: "x" }))).toMatchObject(refusal);
    expect((await runs.getRun({ runId: await queued() })).run?.status).toBe(RunStatus.QUEUED);
  });

  test("an id that is taken, and a revision that is not there, are refused", async () => {
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
    expect(await refusalOf(agents.updateAgent({ spec: specOf("nobody") }))).toMatchObject({
      kind: "not_found",
      reason: "AGENT_NOT_FOUND",
    });
  });

  test("an artifact that there is not is refused by name", async () => {
    for (const artifactId of ["art_0123456789abcdef", "../../etc", "*", "a.b"]) {
      expect(await refusalOf(client().artifacts.downloadArtifact({ artifactId }))).toMatchObject({
        kind: "not_found",
        reason: "ARTIFACT_NOT_FOUND",
        metadata: { artifact_id: artifactId },
      });
    }
  });

  test("an artifact that is larger than is accepted is refused", async () => {
    const content = new Uint8Array(1_001);
    const { artifacts } = client();
    const refusal = { kind: "exhausted", reason: "TOO_LARGE" };
    const stored = artifacts.createArtifact({ header: { name: "a" }, content });
    expect(await refusalOf(stored)).toMatchObject(refusal);
    expect(await refusalOf(artifacts.uploadArtifact(largeUpload()))).toMatchObject(refusal);
    // The connection serves the next request.
    expect((await artifacts.listArtifacts({ runId: noRun })).artifacts).toEqual([]);
  });
});

describe("the runs of another tenant", () => {
  test("are not there, by whichever way", async () => {
    const runId = await queued();
    const refusal = { kind: "not_found", reason: "RUN_NOT_FOUND" };
    expect(await refusalOf(globex.runs.getRun({ runId }))).toMatchObject(refusal);
    expect(await refusalOf(globex.runs.watchRun({ runId }))).toMatchObject(refusal);
    expect(await refusalOf(globex.runs.cancelRun({ runId }))).toMatchObject(refusal);
    expect(await refusalOf(globex.runs.sendMessage({ runId, text: "hi" }))).toMatchObject(refusal);
    expect((await globex.runs.listRuns({})).runs).toEqual([]);
    expect((await acme.runs.getRun({ runId })).run?.status).toBe(RunStatus.QUEUED);
  });

  test("and its threads are not there either, and a thread of the same id is another one", async () => {
    const request = { agentId: "known", input: "hello", threadId: "shared" };
    await acme.runs.startRun(request);
    const refusal = { kind: "not_found", reason: "THREAD_NOT_FOUND" };
    const { threads } = globex;
    expect(await refusalOf(threads.getThread({ threadId: "shared" }))).toMatchObject(refusal);
    expect(await refusalOf(threads.listThreadMessages({ threadId: "shared" }))).toMatchObject(
      refusal,
    );
    expect(await refusalOf(threads.deleteThread({ threadId: "shared" }))).toMatchObject(refusal);
    expect((await threads.listThreads({})).threads).toEqual([]);
  });

  test("do not share their request ids, agents or artifacts", async () => {
    const requestId = randomUUID();
    const request = { agentId: "known", input: "hello", requestId };
    const { run } = await acme.runs.startRun(request);
    expect(await refusalOf(globex.runs.startRun(request))).toMatchObject({
      reason: "AGENT_NOT_FOUND",
    });
    await globex.agents.createAgent({ spec: specOf("known") });
    const other = await globex.runs.startRun({ ...request, input: "another" });
    expect(other.run?.runId).not.toBe(run?.runId);
    const content = new Uint8Array([1]);
    const { artifact } = await acme.artifacts.createArtifact({ header: { name: "a" }, content });
    const { artifactId = "" } = artifact ?? {};
    expect(await refusalOf(globex.artifacts.downloadArtifact({ artifactId }))).toMatchObject({
      reason: "ARTIFACT_NOT_FOUND",
    });
  });
});

/** More than a connection holds while nobody reads it. */
async function* largeUpload() {
  yield { part: { case: "header", value: { name: "a" } } } as const;
  for (let sent = 0; sent < 8; sent++) {
    yield { part: { case: "chunk", value: new Uint8Array(1024 * 1024) } } as const;
  }
}

const request = () => ({
  agentId: "known",
  input: "hello",
  requestId: randomUUID(),
  labels: { b: "2", a: "1" },
});

describe("a request id", () => {
  test("that comes again with the same content is the same run", async () => {
    const first = request();
    const { run } = await acme.runs.startRun(first);
    const again = await acme.runs.startRun({ ...first, labels: { a: "1", b: "2" } });
    expect(again.run).toEqual(run);
  });

  test("that comes many times at once is one run", async () => {
    const same = request();
    const started = await Promise.all(Array.from({ length: 8 }, () => acme.runs.startRun(same)));
    expect(new Set(started.map(({ run }) => run?.runId)).size).toBe(1);
    const runId = started[0]?.run?.runId ?? "";
    expect((await acme.runs.getRun({ runId })).run?.lastSequence).toBe(1);
  });

  test("that comes with other content is refused with the run that has it", async () => {
    const first = request();
    const { run } = await acme.runs.startRun(first);
    const others = [
      { input: "other" },
      { labels: {} },
      { messages: [{ role: Role.USER, text: "x" }] },
    ];
    for (const other of others) {
      const reused = acme.runs.startRun(create(StartRunRequestSchema, { ...first, ...other }));
      expect(await refusalOf(reused)).toMatchObject({
        kind: "exists",
        reason: "REQUEST_ID_REUSED",
        metadata: { run_id: run?.runId },
      });
    }
  });

  test("that is empty starts a new run each time", async () => {
    expect(await queued()).not.toBe(await queued());
  });
});

describe("a run", () => {
  test("that is cancelled is so for everybody, and is cancelled only once", async () => {
    const runId = await queued();
    const first = await acme.runs.cancelRun({ runId, reason: "enough" });
    expect(first.run?.status).toBe(RunStatus.CANCELLED);
    const again = await acme.runs.cancelRun({ runId, reason: "more than enough" });
    expect(again.run).toEqual(first.run);
    expect(await refusalOf(acme.runs.sendMessage({ runId, text: "hi" }))).toMatchObject({
      kind: "precondition",
      reason: "RUN_ENDED",
      message: `run ${runId} has ended: cancelled`,
    });
    const statuses: RunStatus[] = [];
    for await (const { events } of acme.runs.watchRun({ runId })) {
      for (const { event } of events)
        if (event.case === "status") statuses.push(event.value.status);
    }
    expect(statuses).toEqual([RunStatus.CANCELLED]);
  });

  test("that is cancelled many times at once has one cancellation", async () => {
    const runId = await queued();
    await Promise.all(Array.from({ length: 8 }, () => acme.runs.cancelRun({ runId })));
    expect((await acme.runs.getRun({ runId })).run).toMatchObject({
      status: RunStatus.CANCELLED,
      lastSequence: 5,
    });
  });

  test("that ended otherwise can neither be cancelled nor spoken to", async () => {
    const runId = await queued();
    await bench.append(runId, { case: "status", value: { status: RunStatus.COMPLETED } });
    const refusal = {
      kind: "precondition",
      reason: "RUN_ENDED",
      message: `run ${runId} has ended: completed`,
    };
    expect(await refusalOf(acme.runs.cancelRun({ runId }))).toMatchObject(refusal);
    expect(await refusalOf(acme.runs.sendMessage({ runId, text: "hi" }))).toMatchObject(refusal);
  });

  test("takes a message with one id only once", async () => {
    const runId = await queued();
    const message = { runId, text: "hi", messageId: "m-1" };
    const first = await acme.runs.sendMessage(message);
    expect(first).toMatchObject({ messageId: "m-1", sequence: 2 });
    expect(await acme.runs.sendMessage(message)).toEqual(first);
    expect((await acme.runs.getRun({ runId })).run?.lastSequence).toBe(2);
  });

  test.each(["", " ", "\n\t"])("takes no message without a word: %j", async (text) => {
    const runId = await queued();
    expect(await refusalOf(acme.runs.sendMessage({ runId, text }))).toMatchObject({
      kind: "invalid",
      reason: "INVALID_REQUEST",
    });
  });

  test.each([noRun.toUpperCase(), "run_*", "run_a.b", "..", "run_>"])(
    "has no such id as %s",
    async (runId) => {
      expect(await refusalOf(acme.runs.getRun({ runId }))).toMatchObject({
        reason: "RUN_NOT_FOUND",
      });
    },
  );
});

/** Posts what no client of ours would. */
function post(path: string, body: string, contentType = "application/json") {
  const headers = { "content-type": contentType, authorization: `Bearer ${tokens.acme}` };
  return fetch(`${bench.url}/${path}`, { method: "POST", headers, body });
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

  test("that says what there is not, such as a list of tools, is carried out without it", async () => {
    const body = '{"agentId":"known","input":"x","tools":["run_command"]}';
    const response = await post("reeve.run.v1.RunService/StartRun", body);
    expect(response.status).toBe(200);
  });

  test("to a method or a path that there is not is told so", async () => {
    for (const path of ["reeve.run.v1.RunService/Explode", "reeve.run.v9.Nothing/At", "nothing"]) {
      expect((await post(path, "{}")).status).toBe(404);
    }
  });

  test("with another media type is told so", async () => {
    const response = await post("reeve.run.v1.RunService/StartRun", "hello", "text/plain");
    expect(response.status).toBe(415);
  });
});
