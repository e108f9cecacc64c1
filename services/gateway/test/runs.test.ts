import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { RunStatus, StartRunRequestSchema } from "@reeve/contracts/run";
import { Role } from "@reeve/contracts/thread";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { BenchWithAgent } from "./support/bench-with-agent.ts";
import { unknownRun, openBenchWithAgent } from "./support/bench-with-agent.ts";
import { refusalOf } from "./support/clients.ts";

let bench: BenchWithAgent;

beforeAll(async () => {
  bench = await openBenchWithAgent();
});

afterAll(async () => {
  await bench[Symbol.asyncDispose]();
});

const request = () => ({
  agentId: "known",
  input: "hello",
  requestId: randomUUID(),
  labels: { b: "2", a: "1" },
});

describe("a request id", () => {
  test("that is repeated with the same content returns the same run", async () => {
    const first = request();
    const { run } = await bench.acme.runs.startRun(first);
    const again = await bench.acme.runs.startRun({ ...first, labels: { a: "1", b: "2" } });
    expect(again.run).toEqual(run);
  });

  test("that is sent many times concurrently starts one run", async () => {
    const same = request();
    const started = await Promise.all(
      Array.from({ length: 8 }, () => bench.acme.runs.startRun(same)),
    );
    expect(new Set(started.map(({ run }) => run?.runId)).size).toBe(1);
    const runId = started[0]?.run?.runId ?? "";
    expect((await bench.acme.runs.getRun({ runId })).run?.lastSequence).toBe(1);
  });

  test("that is repeated with other content is refused with the id of the run", async () => {
    const first = request();
    const { run } = await bench.acme.runs.startRun(first);
    const others = [
      { input: "other" },
      { labels: {} },
      { messages: [{ role: Role.USER, text: "x" }] },
    ];
    for (const other of others) {
      const reused = bench.acme.runs.startRun(
        create(StartRunRequestSchema, { ...first, ...other }),
      );
      expect(await refusalOf(reused)).toMatchObject({
        kind: "exists",
        reason: "REQUEST_ID_REUSED",
        metadata: { run_id: run?.runId },
      });
    }
  });

  test("that is empty starts a new run each time", async () => {
    expect(await bench.queued()).not.toBe(await bench.queued());
  });
});

describe("a run", () => {
  test("that is cancelled is cancelled for every client, and only once", async () => {
    const runId = await bench.queued();
    const first = await bench.acme.runs.cancelRun({ runId, reason: "enough" });
    expect(first.run?.status).toBe(RunStatus.CANCELLED);
    const again = await bench.acme.runs.cancelRun({ runId, reason: "more than enough" });
    expect(again.run).toEqual(first.run);
    expect(await refusalOf(bench.acme.runs.sendMessage({ runId, text: "hi" }))).toMatchObject({
      kind: "precondition",
      reason: "RUN_ENDED",
      message: `run ${runId} has ended: cancelled`,
    });
    const statuses: RunStatus[] = [];
    for await (const { events } of bench.acme.runs.watchRun({ runId })) {
      for (const { event } of events)
        if (event.case === "status") statuses.push(event.value.status);
    }
    expect(statuses).toEqual([RunStatus.CANCELLED]);
  });

  test("that is cancelled many times concurrently has one cancellation", async () => {
    const runId = await bench.queued();
    await Promise.all(Array.from({ length: 8 }, () => bench.acme.runs.cancelRun({ runId })));
    expect((await bench.acme.runs.getRun({ runId })).run).toMatchObject({
      status: RunStatus.CANCELLED,
      lastSequence: 5,
    });
  });

  test("that has completed accepts neither a cancellation nor a message", async () => {
    const runId = await bench.queued();
    await bench.append(runId, { case: "status", value: { status: RunStatus.COMPLETED } });
    const refusal = {
      kind: "precondition",
      reason: "RUN_ENDED",
      message: `run ${runId} has ended: completed`,
    };
    expect(await refusalOf(bench.acme.runs.cancelRun({ runId }))).toMatchObject(refusal);
    expect(await refusalOf(bench.acme.runs.sendMessage({ runId, text: "hi" }))).toMatchObject(
      refusal,
    );
  });

  test("accepts a message with the same id only once", async () => {
    const runId = await bench.queued();
    const message = { runId, text: "hi", messageId: "m-1" };
    const first = await bench.acme.runs.sendMessage(message);
    expect(first).toMatchObject({ messageId: "m-1", sequence: 2 });
    expect(await bench.acme.runs.sendMessage(message)).toEqual(first);
    expect((await bench.acme.runs.getRun({ runId })).run?.lastSequence).toBe(2);
  });

  test.each(["", " ", "\n\t"])("refuses a blank message: %j", async (text) => {
    const runId = await bench.queued();
    expect(await refusalOf(bench.acme.runs.sendMessage({ runId, text }))).toMatchObject({
      kind: "invalid",
      reason: "INVALID_REQUEST",
    });
  });

  test.each([unknownRun.toUpperCase(), "run_*", "run_a.b", "..", "run_>"])(
    "has no such id as %s",
    async (runId) => {
      expect(await refusalOf(bench.acme.runs.getRun({ runId }))).toMatchObject({
        reason: "RUN_NOT_FOUND",
      });
    },
  );
});
