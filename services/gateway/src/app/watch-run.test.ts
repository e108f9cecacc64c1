import { create } from "@bufbuild/protobuf";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { RunEvent, WatchRunRequestSchema } from "@reeve/contracts/run";
import {
  EventFamily,
  RunEventSchema,
  RunStatus,
  StepState,
  WatchRunRequestSchema as RequestSchema,
} from "@reeve/contracts/run";
import { ErrorReason } from "@reeve/contracts/error";
import type { RunLog, RunPartReader, RunTailReader } from "@reeve/jetstream/log/run-log";
import { emptyTail } from "@reeve/jetstream/log/port";
import { memoryRunLog } from "@reeve/jetstream/log/memory";
import { expect, test } from "vitest";
import { limitWalks } from "./watch/start-watch.ts";
import type { WatchPorts, WatchUpdate } from "./watch-run.ts";
import { watchRun } from "./watch-run.ts";

const never = new AbortController().signal;
const key = { tenant: "acme", run: "run_abcdefgh" };
const happenings: readonly MessageInitShape<typeof RunEventSchema>["event"][] = [
  { case: "runCreated", value: {} },
  { case: "runClaimed", value: {} },
  { case: "status", value: { status: RunStatus.STARTING } },
  { case: "step", value: { state: StepState.STARTED } },
  { case: "text", value: { text: "hello" } },
  { case: "usage", value: {} },
  { case: "status", value: { status: RunStatus.COMPLETED } },
  { case: "runClaimed", value: {} },
];
const events = happenings.map((event, index) =>
  create(RunEventSchema, { runId: key.run, sequence: index + 1, ...(event && { event }) }),
);

async function stored(upTo = events.length) {
  const log = memoryRunLog();
  await log.append(key, emptyTail, events.slice(0, upTo), never);
  return log;
}

/** Never resolves. */
const silent = (_: number, signal: AbortSignal) =>
  new Promise<void>((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });

const portsOf = (log: RunLog & RunTailReader & RunPartReader): WatchPorts => ({
  log,
  logEnds: log,
  logParts: log,
  walks: limitWalks(),
  sleep: silent,
});

async function watched(
  request: MessageInitShape<typeof WatchRunRequestSchema> = {},
  tenant = key.tenant,
): Promise<readonly WatchUpdate[]> {
  const messages: WatchUpdate[] = [];
  const wanted = create(RequestSchema, { runId: key.run, ...request });
  for await (const message of watchRun(portsOf(await stored()), tenant, wanted, never)) {
    messages.push(message);
  }
  return messages;
}

const sequences = (messages: readonly WatchUpdate[]) =>
  messages.flatMap((message) => message.events.map(({ sequence }: RunEvent) => sequence));

test("everything except records is streamed, up to the terminal status", async () => {
  const messages = await watched();
  expect(sequences(messages)).toEqual([3, 4, 5, 6, 7]);
  expect(messages.at(-1)?.throughSequence).toBe(7);
});

async function ends(...asked: Parameters<typeof watched>) {
  return (await watched(...asked)).map(({ endStatus }) => endStatus);
}

test("only the last message has the final status", async () => {
  const { COMPLETED } = RunStatus;
  expect((await ends()).at(-1)).toBe(COMPLETED);
  expect(await ends({ afterSequence: 7 })).toEqual([COMPLETED]);
  const families = [EventFamily.USAGE];
  const usage = await ends({ selection: { case: "families", value: { families } } });
  expect(usage.at(-1)).toBe(COMPLETED);
  expect([...(await ends()), ...usage].filter((status) => status !== undefined)).toHaveLength(2);
});

// Requirement: EVT-5
test("a stream without details has what a person reads, and the terminal status", async () => {
  expect(sequences(await watched({ selection: { case: "detailed", value: false } }))).toEqual([
    5, 7,
  ]);
});

function only(families: EventFamily[]): Promise<readonly WatchUpdate[]> {
  return watched({ selection: { case: "families", value: { families } } });
}

test("exactly the selected families are streamed, and nothing for no families", async () => {
  expect(sequences(await only([EventFamily.RECORD, EventFamily.USAGE]))).toEqual([1, 2, 6]);
  const none = await only([]);
  expect(sequences(none)).toEqual([]);
  expect(none.at(-1)?.throughSequence).toBe(7);
});

// Requirement: EVT-4
test("a client that resumes receives what it has not seen, even after the end", async () => {
  expect(sequences(await watched({ afterSequence: 5 }))).toEqual([6, 7]);
  expect(await watched({ afterSequence: 7 })).toMatchObject([{ events: [], throughSequence: 7 }]);
});

test("a sequence beyond the end, an unknown run and another tenant's run are refused", async () => {
  await expect(watched({ afterSequence: 9 })).rejects.toMatchObject({ kind: "out_of_range" });
  await expect(watched({ runId: "run_zzzzzzzz" })).rejects.toMatchObject({ kind: "not_found" });
  await expect(watched({ runId: "../x" })).rejects.toMatchObject({ kind: "not_found" });
  await expect(watched({}, "other")).rejects.toMatchObject({ kind: "not_found" });
});

/** Stores the events in batches of these lengths, with this text instead of `hello`. */
async function storedIn(lengths: readonly number[], words = "hello") {
  const log = memoryRunLog();
  let tail = emptyTail;
  for (const length of lengths) {
    const batch = happenings
      .slice(tail.sequence, tail.sequence + length)
      .map((happening, index) => {
        const isText = happening?.case === "text";
        const event = isText ? ({ case: "text", value: { text: words } } as const) : happening;
        const sequence = tail.sequence + 1 + index;
        return create(RunEventSchema, { runId: key.run, sequence, ...(event && { event }) });
      });
    const outcome = await log.append(key, tail, batch, never);
    if (outcome.kind === "appended") ({ tail } = outcome);
  }
  return log;
}

async function watchedIn(
  log: RunLog & RunTailReader & RunPartReader,
  request: MessageInitShape<typeof WatchRunRequestSchema>,
): Promise<readonly WatchUpdate[]> {
  const wanted = create(RequestSchema, { runId: key.run, ...request });
  return await Array.fromAsync(watchRun(portsOf(log), key.tenant, wanted, never));
}

test("a client that has all but a part of the last batch costs one read, however long the run is", async () => {
  const log = await storedIn([2, 2, 3]);
  const resumeToken = (await watchedIn(log, {})).at(-1)?.resumeToken ?? "";
  let reads = 0;
  const ports: WatchPorts = {
    ...portsOf(log),
    logParts: { readPart: (...args) => ((reads += 1), log.readPart(...args)) },
  };
  for (const afterSequence of [5, 6, 7]) {
    const wanted = create(RequestSchema, { runId: key.run, afterSequence, resumeToken });
    const updates = await Array.fromAsync(watchRun(ports, key.tenant, wanted, never));
    expect(updates.at(-1)?.endStatus).toBe(RunStatus.COMPLETED);
    expect(sequences(updates)).toEqual([6, 7].filter((sequence) => sequence > afterSequence));
  }
  expect(reads).toBe(0);
});

test("a client that resumes after the end of a run whose log continues gets the end", async () => {
  const log = await storedIn([7, 1]);
  for (const afterSequence of [7, 8]) {
    expect((await watchedIn(log, { afterSequence })).at(-1)?.endStatus).toBe(RunStatus.COMPLETED);
  }
});

test("a client that resumes names the history that it has seen, from any point of a batch", async () => {
  const log = await storedIn([2, 4, 2]);
  const updates = await watchedIn(log, {});
  const token = updates.at(-1)?.resumeToken ?? "";
  expect(token).not.toBe("");
  for (const afterSequence of [1, 2, 3, 5, 6]) {
    expect(sequences(await watchedIn(log, { afterSequence, resumeToken: token }))).toEqual(
      sequences(await watchedIn(log, { afterSequence })),
    );
  }
});

test("a client is refused if the store has other events than it has seen, or has lost them", async () => {
  const token = (await watchedIn(await storedIn([2, 4, 2]), {})).at(-1)?.resumeToken ?? "";
  const refusal = { kind: "data_loss", reason: ErrorReason.HISTORY_LOST };
  for (const log of [
    await storedIn([2, 4, 2], "other words"),
    await storedIn([2, 3, 3]),
    await storedIn([2, 4]),
  ]) {
    await expect(watchedIn(log, { afterSequence: 5, resumeToken: token })).rejects.toMatchObject(
      refusal,
    );
  }
});

test("a resume token that WatchRun did not send, or sent for an earlier message, is refused", async () => {
  const log = await storedIn([8]);
  for (const resumeToken of ["x", "A".repeat(27), `${"A".repeat(26)}*`]) {
    await expect(watchedIn(log, { resumeToken })).rejects.toMatchObject({ kind: "invalid" });
  }
  const resumeToken = (await watchedIn(log, {})).at(-1)?.resumeToken ?? "";
  await expect(watchedIn(log, { afterSequence: 8, resumeToken })).rejects.toMatchObject({
    kind: "invalid",
  });
});

test("a client that has all events is answered at once, with the token that it sent", async () => {
  const log = await stored(5);
  const first = async (request: MessageInitShape<typeof WatchRunRequestSchema>) => {
    const wanted = create(RequestSchema, { runId: key.run, ...request });
    for await (const message of watchRun(portsOf(log), key.tenant, wanted, never)) return message;
    throw new Error("the watch ended without a message");
  };
  const { resumeToken } = await first({});
  const answer = await first({ afterSequence: 5, resumeToken });
  expect(answer).toEqual({ events: [], throughSequence: 5, resumeToken });
});

test("a silent run sends heartbeats", async () => {
  const wanted = create(RequestSchema, { runId: key.run });
  const messages = watchRun(
    { ...portsOf(await stored(5)), sleep: () => Promise.resolve() },
    key.tenant,
    wanted,
    never,
  );
  const seen: WatchUpdate[] = [];
  for await (const message of messages) {
    seen.push(message);
    if (message.events.length === 0 && message.throughSequence === 5) break;
  }
  expect(sequences(seen)).toEqual([3, 4, 5]);
});

test("a long history is split into messages that every client accepts", async () => {
  const log = memoryRunLog();
  const text = "x".repeat(70_000);
  const long = [
    ...Array.from({ length: 10 }, () => ({ case: "text", value: { text } }) as const),
    { case: "status", value: { status: RunStatus.COMPLETED } } as const,
  ].map((event, index) => create(RunEventSchema, { runId: key.run, sequence: index + 1, event }));
  await log.append(key, emptyTail, long, never);
  const messages: WatchUpdate[] = [];
  const wanted = create(RequestSchema, { runId: key.run });
  for await (const message of watchRun(portsOf(log), key.tenant, wanted, never)) {
    messages.push(message);
  }
  expect(sequences(messages)).toEqual(long.map(({ sequence }) => sequence));
  expect(messages.map(({ throughSequence }) => throughSequence)).toEqual([3, 6, 9, 11]);
});

// Requirement: EVT-4
test("a client that selects none of the events receives heartbeats with the current sequence", async () => {
  const log = await stored(3);
  const wanted = create(RequestSchema, {
    runId: key.run,
    selection: { case: "families", value: { families: [] } },
  });
  const { promise: ticked, resolve: tick } = Promise.withResolvers<void>();
  // Only the first sleep after the start ends: an implementation that sleeps anew for each event would never send a heartbeat.
  const { promise: waiting, resolve: waits } = Promise.withResolvers<void>();
  let isFirst = false;
  const sleep = (delayMs: number, signal: AbortSignal) => {
    if (!isFirst) return silent(delayMs, signal);
    isFirst = false;
    waits();
    return Promise.race([ticked, silent(delayMs, signal)]);
  };
  const messages = watchRun({ ...portsOf(log), sleep }, key.tenant, wanted, never)[
    Symbol.asyncIterator
  ]();
  // The first message says at once that the watch has begun.
  await messages.next();
  isFirst = true;
  const next = messages.next();
  await waiting;
  const { tail } = await log.read(key, emptyTail, never);
  await log.append(key, tail, events.slice(3, 5), never);
  await new Promise(setImmediate);
  tick();
  expect(await next).toMatchObject({ done: false, value: { events: [], throughSequence: 5 } });
  await messages.return?.();
});

test("a stream whose run is deleted ends with not found", async () => {
  const log = await stored(5);
  const wanted = create(RequestSchema, { runId: key.run });
  const messages = watchRun(portsOf(log), key.tenant, wanted, never)[Symbol.asyncIterator]();
  expect(await messages.next()).toMatchObject({ value: { throughSequence: 5 } });
  const next = messages.next();
  await log.remove(key, never);
  await expect(next).rejects.toMatchObject({
    kind: "not_found",
    reason: ErrorReason.RUN_NOT_FOUND,
  });
});

test("continues past events of a newer version, which are records", async () => {
  const log = memoryRunLog();
  const unknown = create(RunEventSchema, { runId: key.run, sequence: 5 });
  await log.append(key, emptyTail, [...events.slice(0, 4), unknown, ...events.slice(5)], never);
  const seen: (string | undefined)[] = [];
  const request = create(RequestSchema, { runId: key.run });
  for await (const message of watchRun(portsOf(log), key.tenant, request, never)) {
    seen.push(...message.events.map(({ event }) => event.case));
  }
  expect(seen).toEqual(["status", "step", "usage", "status"]);
});
