import { create } from "@bufbuild/protobuf";
import { ModelCatalogSchema } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import { QueueHolderSchema } from "@reeve/contracts/queue";
import { ChatContextKind, OnBusy, RunStatus, StartRunRequestSchema } from "@reeve/contracts/run";
import { Role } from "@reeve/contracts/thread";
import { emptyTail } from "@reeve/jetstream/log/port";
import { Failure } from "@reeve/platform/failure";
import { describe, expect, test } from "vitest";
import type { MemoryPorts } from "../../test/support/memory-ports.ts";
import {
  ann,
  appendFacts,
  kindsOf,
  memoryPorts,
  storeAgent,
} from "../../test/support/memory-ports.ts";
import { start, withAgent } from "../../test/support/started-runs.ts";
import { startRun } from "./start-run.ts";

const never = new AbortController().signal;

function publish() {
  return Promise.reject(new Failure("unavailable", ErrorReason.UNAVAILABLE, "gone"));
}

async function createdIn({ log }: MemoryPorts, run: string) {
  const { events } = await log.read({ tenant: "acme", run }, emptyTail, never);
  return events[0]?.event.case === "runCreated" ? events[0].event.value : undefined;
}

describe("a started run", () => {
  test("is in its log with its complete input, and is dispatched", async () => {
    const ports = await withAgent();
    const { runId, status } = await start(ports, { requestId: "r", labels: { a: "1" } });
    expect(status).toBe(RunStatus.QUEUED);
    expect(await createdIn(ports, runId)).toMatchObject({
      tenant: "acme",
      agentId: "writer",
      agentRevision: 1,
      spec: { id: "writer" },
      input: "hello",
      startedBy: "ann",
      requestId: "r",
      labels: { a: "1" },
    });
    expect(ports.dispatch.length).toBe(1);
  });

  // Requirement: RES-1, RES-11
  test("keeps the spec that it started with", async () => {
    const ports = await withAgent();
    const { runId } = await start(ports);
    await storeAgent(ports, "writer", { instructions: "changed" });
    expect((await createdIn(ports, runId))?.spec?.instructions).toBe("");
  });

  test("is one run for one request id, however many requests are sent concurrently", async () => {
    const ports = await withAgent();
    const started = await Promise.all(
      Array.from({ length: 8 }, () => start(ports, { requestId: "r" })),
    );
    const [runId = "", ...others] = new Set(started.map((head) => head.runId));
    expect(others).toEqual([]);
    expect(await kindsOf(ports.log, runId)).toEqual(["runCreated"]);
    expect(ports.dispatch.length).toBe(1);
  });

  test("is the same run forever, even after its agent is deleted and it has ended", async () => {
    const ports = await withAgent();
    const { runId } = await start(ports, { requestId: "r" });
    await appendFacts(ports.log, runId, {
      case: "status",
      value: { status: RunStatus.COMPLETED },
    });
    await ports.agents.delete("acme.writer", never);
    const again = await start(ports, { requestId: "r" });
    expect(again).toMatchObject({ runId, status: RunStatus.COMPLETED });
  });

  test("with a schema for its answer is refused while a runtime is alive that would ignore it", async () => {
    const ports = await withAgent();
    const holder = create(QueueHolderSchema, { holder: "runtime-old" });
    await ports.holders.put(holder.holder, holder, never);
    await expect(start(ports, { outputSchema: { type: "object" } })).rejects.toMatchObject({
      reason: ErrorReason.RUNTIME_OUTDATED,
      metadata: { runtimes: "runtime-old", field: "output_schema" },
    });
    expect((await start(ports)).runId).not.toBe("");
  });

  // Requirement: DUR-6, DUR-7
  test("that names its executor is refused by name unless all runtimes have it", async () => {
    const ports = await withAgent();
    const put = (holder: string, executor: string) =>
      ports.holders.put(holder, create(QueueHolderSchema, { holder, executor }), never);
    const refused = { kind: "unsupported", violations: [{ field: "executor" }] };
    await start(ports, { executor: "nats" });
    await expect(start(ports, { executor: "temporal" })).rejects.toMatchObject(refused);
    await put("runtime-a", "temporal");
    await put("toolhost-a", "");
    await start(ports, { executor: "temporal" });
    await start(ports);
    await expect(start(ports, { executor: "nats" })).rejects.toMatchObject(refused);
    await put("runtime-b", "");
    await expect(start(ports, { executor: "temporal" })).rejects.toMatchObject({
      reason: ErrorReason.RUNTIME_OUTDATED,
      metadata: { executors: "nats,temporal" },
    });
    await start(ports);
  });

  test("is the same for any order of labels and of members of a schema, and another for any other change", async () => {
    const ports = await withAgent();
    const properties = { ok: { type: "boolean" }, why: { type: "string" } };
    const outputSchema = { type: "object", properties };
    const request = { requestId: "r", labels: { b: "2", a: "1" }, outputSchema };
    const { runId } = await start(ports, request);
    const turned = {
      ...request,
      labels: { a: "1", b: "2" },
      outputSchema: { properties: { why: properties.why, ok: properties.ok }, type: "object" },
    };
    expect((await start(ports, turned)).runId).toBe(runId);
    for (const other of [
      { input: "other" },
      { labels: {} },
      { outputSchema: { type: "object" } },
      { memoryEnabled: true },
      { messages: [{ role: Role.USER, text: "before" }] },
    ]) {
      await expect(start(ports, { ...request, ...other })).rejects.toMatchObject({
        kind: "exists",
        reason: ErrorReason.REQUEST_ID_REUSED,
        metadata: { run_id: runId },
      });
    }
  });

  test.each(["", "t"])(
    "is one of several concurrent requests under one id, in thread %j; the others are refused",
    async (threadId) => {
      const ports = await withAgent();
      const onBusy = threadId === "" ? OnBusy.UNSPECIFIED : OnBusy.QUEUE;
      // The active run of the thread, if there is one.
      await start(ports, { threadId });
      const outcomes = await Promise.allSettled(
        ["a", "b", "c"].map((input) => start(ports, { requestId: "r", threadId, onBusy, input })),
      );
      expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      const refused = outcomes.flatMap((outcome) =>
        outcome.status === "rejected" ? [outcome.reason] : [],
      );
      const refusal = { kind: "exists", reason: ErrorReason.REQUEST_ID_REUSED };
      expect(refused).toEqual(refused.map(() => expect.objectContaining(refusal)));
    },
  );

  test("is dispatched by a repeated request if the first dispatch was lost", async () => {
    const ports = await withAgent();
    const lost = start(
      { ...ports, dispatch: { publish, holds: async () => false } },
      { requestId: "r" },
    );
    await expect(lost).rejects.toMatchObject({ kind: "unavailable" });
    const { runId } = await start(ports, { requestId: "r" });
    expect(ports.dispatch.length).toBe(1);
    expect(await kindsOf(ports.log, runId)).toEqual(["runCreated"]);
  });

  test.each([
    "a.b",
    "*",
    ">",
    "x y",
    "a\nb",
    "\0",
    "🙂".repeat(32),
    "x".repeat(128),
    "../..",
    "$JS.API.>",
  ])("may have any request id: %j", async (requestId) => {
    const ports = await withAgent();
    const { runId } = await start(ports, { requestId });
    expect(runId).toMatch(/^run_[a-z2-7]{26}$/);
    expect((await start(ports, { requestId })).runId).toBe(runId);
  });

  test("does not share its request id with other tenants", async () => {
    const ports = await withAgent();
    const { runId } = await start(ports, { requestId: "r" });
    const gus = { ...ann, tenant: "globex", subject: "gus" };
    await expect(start(ports, { requestId: "r" }, gus)).rejects.toMatchObject({
      kind: "not_found",
      reason: ErrorReason.AGENT_NOT_FOUND,
    });
    const row = await ports.agents.get("acme.writer", never);
    if (row !== undefined) await ports.agents.put("globex.writer", row.record, never);
    expect((await start(ports, { requestId: "r" }, gus)).runId).not.toBe(runId);
  });
});

// Requirement: CHAT-1
test("a start with media_generation is a run that generates them with the agent, which stays as it is", async () => {
  const known = memoryPorts();
  const { models } = known.offer();
  const generating = create(ModelCatalogSchema, {
    models: [{ id: "painter", provider: "p", upstreamName: "x", generates: ["image"] }],
    providers: [...models.providers, { name: "p", generates: ["image"] }],
  });
  const ports = { ...known, offer: () => ({ ...known.offer(), models: generating }) };
  await storeAgent(known, "writer", { instructions: "You write." });
  const { runId } = await start(ports, { mediaGeneration: { mode: "image", count: 2 } });
  expect((await createdIn(ports, runId))?.spec).toMatchObject({
    instructions: "You write.",
    media: { imageModel: "painter" },
    workflow: { nodes: [{}, { type: "media:image", properties: { count: 2 } }, {}] },
  });
  const stored = await ports.agents.get("acme.writer", never);
  expect(stored?.record.spec?.workflow).toBeUndefined();
});

// Requirement: RES-9, PERM-4
test("a start returns the warnings of the agent and of the request, but not when it is repeated", async () => {
  const ports = memoryPorts();
  await storeAgent(ports, "writer", { budgetAwareness: "limit:70", excludedTools: ["gone"] });
  const chatContext = { kind: ChatContextKind.EDITOR, workflowId: "w1" };
  const init = { agentId: "writer", input: "hello", requestId: "r", chatContext };
  const editing = create(StartRunRequestSchema, init);
  expect((await startRun(ports, ann, editing, never)).warnings).toEqual([
    expect.stringMatching(/^budget_awareness: the context window of the model "known"/),
    expect.stringMatching(/^excluded_tools\[0\]: the tool "gone" does not exist/),
    expect.stringMatching(/^chat_context: .* workflow_id has no effect/),
  ]);
  expect((await startRun(ports, ann, editing, never)).warnings).toEqual([]);
});
