import { create } from "@bufbuild/protobuf";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { ErrorReason } from "@reeve/contracts/error";
import { OnBusy, RunStatus, StartRunRequestSchema } from "@reeve/contracts/run";
import { Role, TurnOutcome } from "@reeve/contracts/thread";
import type { ThreadLog } from "@reeve/jetstream/log/thread-log";
import { settleThread } from "@reeve/run/thread/settle-thread";
import { describe, expect, test } from "vitest";
import type { MemoryPorts } from "../../test/support/memory-ports.ts";
import {
  ann,
  appendFacts,
  kindsOf,
  memoryPorts,
  storeAgent,
} from "../../test/support/memory-ports.ts";
import { cancelRun } from "./cancel-run.ts";
import type { GatewayPorts } from "./gateway-ports.ts";
import { readRun } from "./read-run.ts";
import { listThreadMessages } from "./threads/list-thread-messages.ts";
import { getThread } from "./threads/get-thread.ts";
import { startRun } from "./start-run.ts";

const never = new AbortController().signal;
const page = { pageSize: 0, pageToken: "" };

async function portsWithAgent(): Promise<MemoryPorts> {
  const ports = memoryPorts();
  await storeAgent(ports, "writer");
  return ports;
}

async function start(
  ports: GatewayPorts,
  init: MessageInitShape<typeof StartRunRequestSchema> = {},
) {
  const request = create(StartRunRequestSchema, {
    agentId: "writer",
    input: "hello",
    threadId: "t1",
    ...init,
  });
  const { run } = await startRun(ports, ann, request, never);
  return run;
}

/** Completes a run as a worker does. */
async function answer(ports: MemoryPorts, run: string, text: string): Promise<void> {
  await appendFacts(
    ports.log,
    run,
    { case: "runClaimed", value: { worker: "w", epoch: 1 } },
    { case: "modelCallStarted", value: {} },
    { case: "text", value: { text } },
    { case: "modelTurn", value: {} },
    { case: "status", value: { status: RunStatus.COMPLETED } },
  );
  await settleThread(ports, { tenant: "acme", thread: "t1" }, never);
}

describe("a run on a thread", () => {
  test("creates the thread and gets its turn", async () => {
    const ports = await portsWithAgent();
    const { runId } = await start(ports);
    expect(await getThread(ports, { tenant: "acme", thread: "t1" }, never)).toMatchObject({
      threadId: "t1",
      title: "hello",
      activeRunId: runId,
    });
    expect(ports.dispatch.length).toBe(1);
  });

  test("requested again with the same id is the same run and the same turn", async () => {
    const ports = await portsWithAgent();
    const first = await start(ports, { requestId: "r1" });
    const again = await start(ports, { requestId: "r1" });
    expect(again.runId).toBe(first.runId);
    expect(ports.threads.batches.flatMap(({ events }) => events)).toHaveLength(2);
  });

  // Requirement: CHAT-4
  test("leaves its messages in the thread: the input, and the answer with its tool calls", async () => {
    const ports = await portsWithAgent();
    const { runId } = await start(ports);
    await answer(ports, runId, "hi");
    const key = { tenant: "acme", thread: "t1" };
    const { items } = await listThreadMessages(ports, key, page, never);
    expect(items).toMatchObject([
      { runId, role: Role.USER, text: "hello" },
      {
        runId,
        role: Role.ASSISTANT,
        text: "hi",
        outcome: TurnOutcome.COMPLETED,
        executionTree: { version: 1 },
      },
    ]);
  });

  test("leaves them as soon as it has ended, even before its turn has ended", async () => {
    const ports = await portsWithAgent();
    const { runId } = await start(ports);
    const thread = { tenant: "acme", thread: "t1" };
    expect((await listThreadMessages(ports, thread, page, never)).items).toEqual([]);
    await appendFacts(
      ports.log,
      runId,
      { case: "modelCallStarted", value: {} },
      { case: "text", value: { text: "hi" } },
      { case: "modelTurn", value: {} },
      { case: "status", value: { status: RunStatus.COMPLETED } },
    );
    const before = await listThreadMessages(ports, thread, page, never);
    expect(before.items.map(({ text }) => text)).toEqual(["hello", "hi"]);
    await settleThread(ports, thread, never);
    const after = await listThreadMessages(ports, thread, page, never);
    expect(after.items.map(({ text }) => text)).toEqual(["hello", "hi"]);
  });

  test.each([
    ["messages beside the thread's own", { messages: [{ role: Role.USER, text: "a" }] }],
    ["a word about a busy thread without one", { threadId: "", onBusy: OnBusy.QUEUE }],
  ])("is refused with %s", async (_, init) => {
    const ports = await portsWithAgent();
    await expect(start(ports, init)).rejects.toMatchObject({
      kind: "invalid",
      violations: [{ reason: "CONTRADICTION" }],
    });
    expect(ports.threads.batches).toEqual([]);
  });
});

// Requirement: CHAT-7
describe("a run on a busy thread", () => {
  test("is refused by default, and leaves nothing behind", async () => {
    const ports = await portsWithAgent();
    const { runId } = await start(ports);
    await expect(start(ports, { requestId: "second" })).rejects.toMatchObject({
      kind: "precondition",
      reason: ErrorReason.THREAD_BUSY,
      metadata: { run_id: runId, thread_id: "t1" },
    });
    expect(new Set(ports.log.batches.map(({ key }) => key.run))).toEqual(new Set([runId]));
  });

  test("waits for its turn if it queues, and starts when the previous run has ended", async () => {
    const ports = await portsWithAgent();
    const { runId: first } = await start(ports);
    const { runId: second, status } = await start(ports, { onBusy: OnBusy.QUEUE });
    expect(status).toBe(RunStatus.QUEUED);
    expect(ports.dispatch.length).toBe(1);
    await answer(ports, first, "hi");
    expect(await getThread(ports, { tenant: "acme", thread: "t1" }, never)).toMatchObject({
      activeRunId: second,
    });
    expect(ports.dispatch.length).toBe(2);
  });

  test("that interrupts ends the active run and the queued ones", async () => {
    const ports = await portsWithAgent();
    const { runId: first } = await start(ports);
    const { runId: second } = await start(ports, { onBusy: OnBusy.QUEUE });
    const { runId: third } = await start(ports, { onBusy: OnBusy.INTERRUPT });
    expect(await getThread(ports, { tenant: "acme", thread: "t1" }, never)).toMatchObject({
      activeRunId: third,
      queuedRunIds: [],
      endedTurns: 1,
    });
    for (const run of [first, second]) {
      expect(await kindsOf(ports.log, run)).toContain("cancelRequested");
    }
  });

  test("can start when the active run is cancelled", async () => {
    const ports = await portsWithAgent();
    const { runId } = await start(ports);
    await cancelRun(ports, ann, { runId, reason: "" }, never);
    const { runId: next } = await start(ports);
    expect(await getThread(ports, { tenant: "acme", thread: "t1" }, never)).toMatchObject({
      activeRunId: next,
    });
  });

  test("is accepted exactly once from many concurrent requests over several gateways", async () => {
    const ports = await portsWithAgent();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => start({ ...ports }, { requestId: `r${index}` })),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect((await getThread(ports, { tenant: "acme", thread: "t1" }, never)).queuedRunIds).toEqual(
      [],
    );
  });
});

describe("a request id on a thread", () => {
  const reused = { kind: "exists", reason: ErrorReason.REQUEST_ID_REUSED };

  test.each([
    ["another input", { input: "other" }],
    ["another thread", { threadId: "t2" }],
    ["no thread", { threadId: "" }],
  ])("that is sent twice concurrently, the second time with %s, is one run", async (_, other) => {
    const ports = await portsWithAgent();
    const outcomes = await Promise.allSettled([
      start(ports, { requestId: "r1" }),
      start(ports, { requestId: "r1", ...other }),
    ]);
    const refused = outcomes.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
    expect(refused).toEqual([expect.objectContaining(reused)]);
    const runs = new Set(ports.log.batches.map(({ key: { run } }) => run));
    expect(runs.size).toBe(1);
  });

  test("that was refused because the thread was busy can be used again", async () => {
    const ports = await portsWithAgent();
    const { runId } = await start(ports, { requestId: "r1" });
    await expect(start(ports, { requestId: "r2" })).rejects.toMatchObject({
      reason: ErrorReason.THREAD_BUSY,
    });
    await answer(ports, runId, "hi");
    expect((await start(ports, { requestId: "r2" })).status).toBe(RunStatus.QUEUED);
  });
});

test("a queued run can be read and cancelled; the next one gets its turn", async () => {
  const ports = await portsWithAgent();
  const { runId: first } = await start(ports);
  const { runId: second } = await start(ports, { onBusy: OnBusy.QUEUE });
  const { runId: third } = await start(ports, { onBusy: OnBusy.QUEUE });
  const key = { tenant: "acme", run: second };
  expect((await readRun(ports.log, key, never)).status).toBe(RunStatus.QUEUED);
  await cancelRun(ports, ann, { runId: second, reason: "" }, never);
  const thread = { tenant: "acme", thread: "t1" };
  expect(await getThread(ports, thread, never)).toMatchObject({ queuedRunIds: [third] });
  await answer(ports, first, "hi");
  expect(await getThread(ports, thread, never)).toMatchObject({ activeRunId: third });
  // The withdrawn run has no messages in the thread.
  const { items } = await listThreadMessages(ports, thread, page, never);
  expect(items.map(({ runId }) => runId)).toEqual([first, first]);
});

test("starting a run on an idle thread costs one read of the last batch and one append of its log", async () => {
  const ports = await portsWithAgent();
  const { runId } = await start(ports);
  await answer(ports, runId, "hi");
  const acts: string[] = [];
  const threads: ThreadLog = {
    read: (...args) => (acts.push("read"), ports.threads.read(...args)),
    readPart: (...args) => (acts.push("read"), ports.threads.readPart(...args)),
    last: (...args) => (acts.push("last"), ports.threads.last(...args)),
    append: (...args) => (acts.push("append"), ports.threads.append(...args)),
    follow: (...args) => ports.threads.follow(...args),
  };
  await start({ ...ports, threads });
  expect(acts).toEqual(["last", "append"]);
});

test("a thread of another tenant is not found", async () => {
  const ports = await portsWithAgent();
  await start(ports);
  await expect(getThread(ports, { tenant: "other", thread: "t1" }, never)).rejects.toMatchObject({
    kind: "not_found",
    reason: ErrorReason.THREAD_NOT_FOUND,
  });
});
