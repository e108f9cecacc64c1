import { create, toBinary } from "@bufbuild/protobuf";
import { ErrorReason } from "@reeve/contracts/error";
import { RunStatus, StartRunRequestSchema } from "@reeve/contracts/run";
import type { ThreadMessage } from "@reeve/contracts/thread";
import { ListThreadMessagesResponseSchema, ThreadEventSchema } from "@reeve/contracts/thread";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { ThreadLog } from "@reeve/jetstream/log/thread-log";
import { appendThread } from "@reeve/run/thread/append-thread";
import { refreshThread } from "@reeve/run/thread/read-thread";
import { settleThread } from "@reeve/run/thread/settle-thread";
import { expect, test } from "vitest";
import { ann, appendFacts, memoryPorts, storeAgent } from "../../../test/support/memory-ports.ts";
import { startRun } from "../start-run.ts";
import { listThreadMessages } from "./list-thread-messages.ts";

const never = new AbortController().signal;
const key = { tenant: "acme", thread: "x" };

/** A thread of 50 turns, each with a hundred tool calls. */
async function longThread() {
  const ports = memoryPorts();
  const preview = "a".repeat(500);
  let tail = emptyTail;
  for (let turn = 0; turn < 50; turn++) {
    const runId = `run_${String(turn).padStart(10, "0")}`;
    const nodes = Array.from({ length: 100 }, (_, call) => ({
      id: `${runId}-${call}`,
      name: "grep",
      argsPreview: preview,
      resultPreview: preview,
    }));
    const messages = [{ message: { case: "user", value: { text: "go" } } } as const];
    const executionTree = { version: 1, nodes };
    const facts = [
      { case: "turnQueued", value: { runId } },
      { case: "turnStarted", value: { runId } },
      { case: "turnEnded", value: { runId, outcome: 1, output: "done", messages, executionTree } },
    ] as const;
    const events = facts.map((event, index) =>
      create(ThreadEventSchema, { sequence: tail.sequence + 1 + index, event }),
    );
    const outcome = await ports.threads.append(key, tail, events, never);
    if (outcome.kind === "appended") ({ tail } = outcome);
  }
  return ports;
}

test("pages of long messages stay below the message limit of clients, and have each message once", async () => {
  const ports = await longThread();
  const runs: string[] = [];
  let pageToken = "";
  do {
    const page = await listThreadMessages(ports, key, { pageSize: 0, pageToken }, never);
    const response = { messages: [...page.items], nextPageToken: page.nextPageToken };
    const bytes = toBinary(
      ListThreadMessagesResponseSchema,
      create(ListThreadMessagesResponseSchema, response),
    ).length;
    expect(bytes).toBeLessThan(1.1 * 1024 * 1024);
    runs.push(...page.items.map(({ runId }) => runId));
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  expect(new Set(runs).size).toBe(50);
  expect(runs).toHaveLength(100);
});

test("a page reads the part of the log that has its messages, however long the thread is", async () => {
  const ports = await longThread();
  let bytes = 0;
  const threads: ThreadLog = {
    append: (...args) => ports.threads.append(...args),
    read: (...args) => ports.threads.read(...args),
    follow: (...args) => ports.threads.follow(...args),
    last: (...args) => ports.threads.last(...args),
    readPart: async (...args) => {
      const part = await ports.threads.readPart(...args);
      for (const event of part.events) bytes += toBinary(ThreadEventSchema, event).length;
      return part;
    },
  };
  // The head that this thread lacks is written with its next batch.
  const seen = await refreshThread(ports.threads, key, undefined, never);
  const queued = [{ case: "turnQueued", value: { runId: "next" } }] as const;
  await appendThread(ports.threads, key, seen, () => queued, never);
  const runs: string[] = [];
  let pageToken = "";
  do {
    bytes = 0;
    const page = await listThreadMessages(
      { ...ports, threads },
      key,
      { pageSize: 4, pageToken },
      never,
    );
    runs.push(...page.items.map(({ runId }) => runId));
    ({ nextPageToken: pageToken } = page);
    expect(bytes).toBeLessThan(1.5 * 1024 * 1024);
  } while (pageToken !== "");
  expect(runs).toHaveLength(100);
  expect(bytes).toBeLessThan(1024 * 1024);
});

function textsOf({ items }: { readonly items: readonly ThreadMessage[] }): readonly string[] {
  return items.map(({ text }) => text);
}

test("pages continue across the end of the last turn", async () => {
  const ports = memoryPorts();
  await storeAgent(ports, "writer");
  const request = create(StartRunRequestSchema, {
    agentId: "writer",
    input: "hello",
    threadId: key.thread,
  });
  const { run } = await startRun(ports, ann, request, never);
  await appendFacts(
    ports.log,
    run.runId,
    { case: "modelCallStarted", value: {} },
    { case: "text", value: { text: "hi" } },
    { case: "modelTurn", value: {} },
    { case: "status", value: { status: RunStatus.COMPLETED } },
  );
  const first = await listThreadMessages(ports, key, { pageSize: 1, pageToken: "" }, never);
  expect(textsOf(first)).toEqual(["hello"]);
  const next = { pageSize: 1, pageToken: first.nextPageToken };
  const before = await listThreadMessages(ports, key, next, never);
  await settleThread(ports, key, never);
  const after = await listThreadMessages(ports, key, next, never);
  expect([textsOf(before), textsOf(after)]).toEqual([["hi"], ["hi"]]);
  expect([before.nextPageToken, after.nextPageToken]).toEqual(["", ""]);
});

test("a page after messages that the store has lost is refused", async () => {
  const page = await listThreadMessages(
    await longThread(),
    key,
    { pageSize: 20, pageToken: "" },
    never,
  );
  const shorter = memoryPorts();
  await storeAgent(shorter, "writer");
  const request = create(StartRunRequestSchema, {
    agentId: "writer",
    input: "hello",
    threadId: key.thread,
  });
  await startRun(shorter, ann, request, never);
  await expect(
    listThreadMessages(shorter, key, { pageSize: 1, pageToken: page.nextPageToken }, never),
  ).rejects.toMatchObject({ reason: ErrorReason.HISTORY_LOST });
});

test("a page token of another form is refused", async () => {
  const ports = await longThread();
  for (const text of ["k:0000000012", "t:1.1", "t:-1.0..0"]) {
    const pageToken = Buffer.from(text).toString("base64url");
    await expect(
      listThreadMessages(ports, key, { pageSize: 0, pageToken }, never),
    ).rejects.toMatchObject({ kind: "invalid", violations: [{ field: "page_token" }] });
  }
});
