import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ErrorReason } from "@reeve/contracts/error";
import type { Dispatch } from "@reeve/contracts/run";
import { ClientCallState, RunEventSchema, RunStatus } from "@reeve/contracts/run";
import { memoryRunLog } from "@reeve/jetstream/log/memory";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { RunLog } from "@reeve/jetstream/log/run-log";
import { MemoryWorkQueue } from "@reeve/jetstream/queue/memory";
import { expect, test } from "vitest";
import type { ExternalFact } from "../commands/append-external.ts";
import type { ClientAnswer } from "./answer-call.ts";
import { emptyHead, foldHead } from "../head/run-head.ts";
import { answerCall } from "./answer-call.ts";
import { expireCalls } from "./expire-calls.ts";
import { takeCall } from "./take-call.ts";

const never = new AbortController().signal;
const key = { tenant: "acme", run: "run_12345678" };
const page = { clientId: "page", subject: "ann" };
const script = { clientId: "script", subject: "ann" };
const deadlineMs = 60_000;

/** A run with one open call of a tool whose answer has a color. */
class OpenCall {
  readonly log = memoryRunLog();
  readonly dispatch = new MemoryWorkQueue<Dispatch>();
  nowMs = 1_000;
  readonly now = () => this.nowMs;

  async open(): Promise<this> {
    const outputSchema = {
      type: "object",
      properties: { color: { type: "string" } },
      required: ["color"],
    };
    const tool = { name: "pick", source: "client:page", client: { outputSchema } };
    const opened = { callId: "c1", name: "pick", arguments: { of: "3" }, answeredByPerson: true };
    await this.append(
      { case: "runCreated", value: { tenant: "acme", offeredTools: [tool] } },
      { case: "runClaimed", value: { worker: "w", epoch: 1 } },
      {
        case: "clientCall",
        value: {
          ...opened,
          state: ClientCallState.OPEN,
          deadline: timestampFromMs(deadlineMs),
        },
      },
    );
    return this;
  }

  parks(): Promise<void> {
    return this.append({ case: "runParked", value: { wakeAt: timestampFromMs(deadlineMs) } });
  }

  async append(...facts: readonly ExternalFact[]): Promise<void> {
    const { tail } = await this.log.read(key, emptyTail, never);
    const events = facts.map((event, index) =>
      create(RunEventSchema, { runId: key.run, sequence: tail.sequence + 1 + index, event }),
    );
    await this.log.append(key, tail, events, never);
  }

  take(client = page) {
    return takeCall(this, key, "c1", client, never);
  }

  answer(answer: ClientAnswer, client = page, callId = "c1") {
    return answerCall(this, key, { callId, client, answer }, () => undefined, never);
  }

  async states(): Promise<readonly ClientCallState[]> {
    const { events } = await this.log.read(key, emptyTail, never);
    return events.flatMap(({ event }) => (event.case === "clientCall" ? event.value.state : []));
  }
}

const { OPEN, TAKEN, ANSWERED, EXPIRED } = ClientCallState;
const red = { kind: "structured", structured: { color: "red" } } as const;

// Requirement: CHAT-8
test("one of two clients gets a call, and the other never does", async () => {
  const run = await new OpenCall().open();
  const taken = await Promise.all([run.take(), run.take(script)]);
  expect(taken.filter((call) => call !== undefined)).toHaveLength(1);
  expect(await run.states()).toEqual([OPEN, TAKEN]);
  const [first] = taken;
  const loser = first === undefined ? page : script;
  expect(await run.take(loser)).toBeUndefined();
});

test("a client that takes its call again gets it, without another fact", async () => {
  const run = await new OpenCall().open();
  await run.take();
  expect(await run.take()).toMatchObject({ callId: "c1", arguments: { of: "3" } });
  expect(await run.states()).toEqual([OPEN, TAKEN]);
});

test("a client that follows the log takes a call without reading it, also after another writer", async () => {
  const run = await new OpenCall().open();
  const { events, tail } = await run.log.read(key, emptyTail, never);
  const seen = { head: foldHead(emptyHead, events), tail };
  await run.append({ case: "text", value: { text: "a" } });
  const log: RunLog = {
    append: (...given) => run.log.append(...given),
    follow: (...given) => run.log.follow(...given),
    read: () => Promise.reject(new Error("the log was read")),
  };
  const taken = await takeCall({ log, dispatch: run.dispatch, seen }, key, "c1", page, never);
  expect(taken).toMatchObject({ callId: "c1" });
  const late = await takeCall({ log, dispatch: run.dispatch, seen }, key, "c1", script, never);
  expect(late).toBeUndefined();
  expect(await run.states()).toEqual([OPEN, TAKEN]);
});

test("taking a call leaves a parked run parked, and its answer wakes it", async () => {
  const run = await new OpenCall().open();
  await run.parks();
  await run.take();
  expect(run.dispatch.length).toBe(0);
  await run.answer(red);
  expect(run.dispatch.length).toBe(1);
});

test("an answer is recorded once: repeating it succeeds, and another one is refused", async () => {
  const run = await new OpenCall().open();
  await run.take();
  await run.answer(red);
  await run.answer({ kind: "structured", structured: { color: "red" } });
  const other = run.answer({ kind: "structured", structured: { color: "blue" } });
  await expect(other).rejects.toMatchObject({ reason: ErrorReason.CALL_ANSWERED });
  expect(await run.states()).toEqual([OPEN, TAKEN, ANSWERED]);
});

test("an answer that the schema of the tool forbids is refused by field, and the call stays open", async () => {
  const run = await new OpenCall().open();
  await run.take();
  const wrong = run.answer({ kind: "structured", structured: { color: 7 } });
  await expect(wrong).rejects.toMatchObject({
    kind: "invalid",
    violations: [{ field: "structured.color", description: "must be string" }],
  });
  const text = run.answer({ kind: "text", text: "red" });
  await expect(text).rejects.toMatchObject({ kind: "invalid", violations: [{ field: "text" }] });
  await run.answer(red);
  expect(await run.states()).toEqual([OPEN, TAKEN, ANSWERED]);
});

test("only the client that took a call may answer it", async () => {
  const run = await new OpenCall().open();
  await expect(run.answer(red)).rejects.toMatchObject({ kind: "denied" });
  await run.take();
  await expect(run.answer(red, script)).rejects.toMatchObject({ kind: "denied" });
  await expect(run.answer(red, { ...page, subject: "eve" })).rejects.toMatchObject({
    kind: "denied",
  });
  await expect(run.answer(red, page, "c2")).rejects.toMatchObject({
    reason: ErrorReason.CALL_NOT_FOUND,
  });
});

test("an answer after the deadline, or after the end of the run, is refused", async () => {
  const run = await new OpenCall().open();
  await run.take();
  run.nowMs = deadlineMs;
  await expect(run.answer(red)).rejects.toMatchObject({ reason: ErrorReason.CALL_CLOSED });
  run.nowMs = 1_000;
  await run.append({ case: "status", value: { status: RunStatus.CANCELLED } });
  await expect(run.answer(red)).rejects.toMatchObject({ reason: ErrorReason.RUN_ENDED });
  expect(await run.take()).toBeUndefined();
});

test("a parked run is woken at the deadline, once, and not before", async () => {
  const run = await new OpenCall().open();
  await run.parks();
  await expireCalls(run, key, deadlineMs - 1, never);
  expect(await run.states()).toEqual([OPEN]);
  await expireCalls(run, key, deadlineMs, never);
  await expireCalls(run, key, deadlineMs, never);
  expect(await run.states()).toEqual([OPEN, EXPIRED]);
  expect(run.dispatch.length).toBe(1);
});

test("of an answer and the end of a call at its deadline, the first counts", async () => {
  const inTime = await new OpenCall().open();
  await inTime.take();
  await inTime.parks();
  await inTime.answer(red);
  await expireCalls(inTime, key, deadlineMs, never);
  expect(await inTime.states()).toEqual([OPEN, TAKEN, ANSWERED]);
  const late = await new OpenCall().open();
  await late.take();
  await late.append({ case: "clientCall", value: { callId: "c1", state: EXPIRED } });
  await expect(late.answer(red)).rejects.toMatchObject({ reason: ErrorReason.CALL_CLOSED });
  // The clocks of the owner and of the gateway may differ: the fact that was written first counts.
  expect(await late.states()).toEqual([OPEN, TAKEN, EXPIRED]);
});
