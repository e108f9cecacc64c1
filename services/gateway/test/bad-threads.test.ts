import { randomUUID } from "node:crypto";
import { OnBusy } from "@reeve/contracts/run";
import { Role } from "@reeve/contracts/thread";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { BenchWithAgent } from "./support/bench-with-agent.ts";
import { openBenchWithAgent } from "./support/bench-with-agent.ts";
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

  test("an unknown thread is refused with its id, by every method", async () => {
    const { threads } = client();
    const refusal = {
      kind: "not_found",
      reason: "THREAD_NOT_FOUND",
      message: "thread t0 does not exist; start a run on it to create it",
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
      // A run without a thread id is valid.
      if (threadId === "") return;
      const request = { agentId: "known", input: "hello", threadId };
      expect(await refusalOf(runs.startRun(request))).toMatchObject(refusal);
    },
  );

  test("a field that is not valid with a thread, or without one, is refused by its name", async () => {
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

  test("the refusal of a busy thread has its active run, and the thread cannot be deleted", async () => {
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

  test("a page of messages is refused with a token of another list", async () => {
    const threadId = `paged-${randomUUID()}`;
    await client().runs.startRun({ agentId: "known", input: "hello", threadId });
    const { threads } = client();
    const listed = threads.listThreadMessages({ threadId, pageToken: "nonsense" });
    expect(await refusalOf(listed)).toMatchObject({ fields: ["page_token MALFORMED"] });
  });
});
