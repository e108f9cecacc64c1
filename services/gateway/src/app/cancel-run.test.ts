import { create } from "@bufbuild/protobuf";
import { OnBusy, RunStatus, StartRunRequestSchema } from "@reeve/contracts/run";
import { ErrorReason } from "@reeve/contracts/error";
import type { ExternalFact } from "@reeve/run/commands/append-external";
import { emptyTail } from "@reeve/jetstream/log/port";
import { storeFailure } from "@reeve/jetstream/streams/errors";
import type { RunLog } from "@reeve/jetstream/log/run-log";
import { Failure } from "@reeve/platform/failure";
import { describe, expect, test } from "vitest";
import {
  ann,
  appendFacts,
  kindsOf,
  memoryPorts,
  storeAgent,
} from "../../test/support/memory-ports.ts";
import { repairThread } from "@reeve/run/thread/repair-thread";
import { cancelRun } from "./cancel-run.ts";
import type { GatewayPorts } from "./gateway-ports.ts";
import { startRun } from "./start-run.ts";

const never = new AbortController().signal;
const runId = "run_cancelled";
const request = { runId, reason: "enough" };
const created: ExternalFact = { case: "runCreated", value: { tenant: "acme" } };
const claimed: ExternalFact = { case: "runClaimed", value: { worker: "w" } };
const completed: ExternalFact = { case: "status", value: { status: RunStatus.COMPLETED } };
const out = (callId: string): ExternalFact => ({ case: "toolCallStarted", value: { callId } });
const ends = ["cancelRequested", "costSummary", "treeStored", "status"];

async function withRun(...facts: readonly ExternalFact[]) {
  const ports = memoryPorts();
  await appendFacts(ports.log, runId, created, ...facts);
  return ports;
}

function publish() {
  return Promise.reject(new Failure("unavailable", ErrorReason.UNAVAILABLE, "gone"));
}

function appendToFull() {
  return Promise.reject(storeFailure({ code: 503, err_code: 10047 }));
}

describe("cancelling a run", () => {
  test("is one batch: the request, the cost, the execution tree, and the end", async () => {
    const ports = await withRun(
      claimed,
      { case: "modelCallStarted", value: { attempt: 1 } },
      { case: "usage", value: { inputTokens: 7, outputTokens: 3, costUsd: 0.5 } },
      { case: "toolCall", value: {} },
      { case: "modelCallStarted", value: { attempt: 1 } },
    );
    const head = await cancelRun(ports, ann, request, never);
    expect(head).toMatchObject({ status: RunStatus.CANCELLED, endSequence: 10 });
    expect(ports.log.batches.at(-1)?.events).toMatchObject([
      { sequence: 7, event: { value: { requestedBy: "ann", reason: "enough" } } },
      {
        sequence: 8,
        event: {
          value: { llmCalls: 2, toolCalls: 1, inputTokens: 7, outputTokens: 3, costUsd: 0.5 },
        },
      },
      { sequence: 9, event: { case: "treeStored", value: { tree: { version: 1 } } } },
      { sequence: 10, event: { value: { status: RunStatus.CANCELLED, message: "enough" } } },
    ]);
    expect(ports.dispatch.length).toBe(1);
  });

  test("succeeds after a thousand large calls, with a tree that is cut to fit into the batch", async () => {
    const ports = await withRun(claimed);
    for (let index = 0; index < 1_000; index++) {
      const call = { callId: `${runId}-${index}-0`, name: "grep" };
      const text = "漢".repeat(600);
      await appendFacts(
        ports.log,
        runId,
        { case: "toolCall", value: { ...call, arguments: { pattern: text } } },
        { case: "toolResult", value: { result: { ...call, content: text }, success: true } },
      );
    }
    expect(await cancelRun(ports, ann, request, never)).toMatchObject({
      status: RunStatus.CANCELLED,
    });
    const stored = ports.log.batches.at(-1)?.events[2]?.event;
    const nodes = stored?.case === "treeStored" ? stored.value.tree?.nodes : undefined;
    expect(nodes).toHaveLength(1_000);
  });

  test("has no cost if a model without a price was called", async () => {
    const ports = await withRun(
      { case: "usage", value: { inputTokens: 1, costUsd: 0.5 } },
      { case: "usage", value: { inputTokens: 1 } },
      { case: "usage", value: { inputTokens: 1, costUsd: 0.5 } },
    );
    const { cost } = await cancelRun(ports, ann, request, never);
    expect(cost).toMatchObject({ inputTokens: 3 });
    expect(cost?.costUsd).toBeUndefined();
  });

  test("again, or many times concurrently, changes nothing more", async () => {
    const ports = await withRun();
    await Promise.all(Array.from({ length: 8 }, () => cancelRun(ports, ann, request, never)));
    await cancelRun(ports, ann, { runId, reason: "later" }, never);
    expect(await kindsOf(ports.log, runId)).toEqual(["runCreated", ...ends]);
    expect(ports.dispatch.length).toBe(1);
  });

  test("withdraws the open calls, with or without a live worker, and no others", async () => {
    const done = { case: "toolResult", value: { result: { callId: "ended" } } } as const;
    const ports = await withRun(claimed, out("ended"), out("first"), done, out("second"));
    await Promise.all([1, 2, 3].map(() => cancelRun(ports, ann, request, never)));
    const journal = async (call: string) => {
      const { events } = await ports.journal.read({ ...ann, run: runId, call }, emptyTail, never);
      return events.map(({ fact }) => fact.case);
    };
    expect(await Promise.all(["first", "second", "ended"].map(journal))).toEqual([
      ["cancelled"],
      ["cancelled"],
      [],
    ]);
  });

  test("again repeats a lost dispatch", async () => {
    const ports = await withRun(claimed, { case: "runParked", value: {} });
    const lost = cancelRun(
      { ...ports, dispatch: { publish, holds: async () => false } },
      ann,
      request,
      never,
    );
    await expect(lost).rejects.toMatchObject({ kind: "unavailable" });
    await cancelRun(ports, ann, request, never);
    expect(ports.dispatch.length).toBeGreaterThan(0);
    expect(await kindsOf(ports.log, runId)).toEqual([
      "runCreated",
      "runClaimed",
      "runParked",
      ...ends,
    ]);
  });

  test("starts the next run of the thread, even if not all open calls can be withdrawn", async () => {
    const ports = memoryPorts();
    await storeAgent(ports, "writer");
    const started = async (requestId: string) => {
      const init = {
        agentId: "writer",
        input: "hello",
        threadId: "t",
        requestId,
        onBusy: OnBusy.QUEUE,
      };
      const { run } = await startRun(ports, ann, create(StartRunRequestSchema, init), never);
      return run.runId;
    };
    const [first, second] = [await started("a"), await started("b")];
    await appendFacts(ports.log, first, claimed, out("call"));
    const away = { read: () => publish(), append: () => publish() };
    const cancelling = cancelRun(
      { ...ports, journal: away },
      ann,
      { ...request, runId: first },
      never,
    );
    await expect(cancelling).rejects.toMatchObject({ kind: "unavailable" });
    const { events } = await ports.threads.read({ tenant: "acme", thread: "t" }, emptyTail, never);
    expect(events.at(-1)?.event).toMatchObject({ case: "turnStarted", value: { runId: second } });
  });

  test("ends a run with events of a newer version, and leaves its turn to a process of that version", async () => {
    const ports = memoryPorts();
    await storeAgent(ports, "writer");
    const init = { agentId: "writer", input: "hello", threadId: "t" };
    const { run } = await startRun(ports, ann, create(StartRunRequestSchema, init), never);
    await appendFacts(ports.log, run.runId, claimed, { case: undefined });
    const head = await cancelRun(ports, ann, { ...request, runId: run.runId }, never);
    expect(head).toMatchObject({ status: RunStatus.CANCELLED, unknownEventSequence: 3 });
    const { events } = await ports.threads.read({ tenant: "acme", thread: "t" }, emptyTail, never);
    expect(events.map(({ event }) => event.case)).toEqual(["turnQueued", "turnStarted"]);
  });

  test("succeeds although a full store cannot end its turn, which a sweep does later", async () => {
    const ports = memoryPorts();
    await storeAgent(ports, "writer");
    const init = { agentId: "writer", input: "hello", threadId: "t" };
    const { run } = await startRun(ports, ann, create(StartRunRequestSchema, init), never);
    const threads: GatewayPorts["threads"] = {
      append: appendToFull,
      read: (...asked) => ports.threads.read(...asked),
      readPart: (...asked) => ports.threads.readPart(...asked),
      last: (...asked) => ports.threads.last(...asked),
      follow: (...asked) => ports.threads.follow(...asked),
    };
    const full = { ...ports, threads };
    const head = await cancelRun(full, ann, { ...request, runId: run.runId }, never);
    expect(head.status).toBe(RunStatus.CANCELLED);
    const thread = { tenant: "acme", thread: "t" };
    expect((await repairThread(ports, thread, never)).openTurns).toEqual([]);
  });

  test("is refused if the owner ends the run first", async () => {
    const ports = await withRun(claimed);
    let isFirst = true;
    const racing: RunLog = {
      append: async (...asked) => {
        if (isFirst) await appendFacts(ports.log, runId, completed);
        isFirst = false;
        return ports.log.append(...asked);
      },
      read: (...asked) => ports.log.read(...asked),
      follow: (...asked) => ports.log.follow(...asked),
    };
    await expect(cancelRun({ ...ports, log: racing }, ann, request, never)).rejects.toMatchObject({
      kind: "precondition",
      reason: ErrorReason.RUN_ENDED,
      message: `run ${runId} has ended: completed`,
    });
    expect(await kindsOf(ports.log, runId)).toEqual(["runCreated", "runClaimed", "status"]);
    expect(ports.dispatch.length).toBe(0);
  });

  test("is refused for an unknown run, and for one of another tenant", async () => {
    const ports = await withRun();
    const refusal = { kind: "not_found", reason: ErrorReason.RUN_NOT_FOUND };
    const unknown = { runId: "run_unknown00", reason: "" };
    await expect(cancelRun(ports, ann, unknown, never)).rejects.toMatchObject(refusal);
    const gus = { tenant: "globex", subject: "gus" };
    await expect(cancelRun(ports, gus, request, never)).rejects.toMatchObject(refusal);
    const { events } = await ports.log.read({ tenant: "globex", run: runId }, emptyTail, never);
    expect(events).toEqual([]);
  });
});
