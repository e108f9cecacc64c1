import { ToolCallFactSchema } from "@reeve/contracts/tool";
import type { JsonObject } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { jetstreamManager } from "@nats-io/jetstream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { confirmAbsence } from "../src/log/confirm-absence.ts";
import { emptyTail } from "../src/log/port.ts";
import { openCallJournal, openRunLog, openThreadLog } from "../src/log/open.ts";
import type { RunLog } from "../src/log/run-log.ts";
import type { ThreadLog } from "../src/log/thread-log.ts";
import { externalAppendContract } from "./support/external-append-contract.ts";
import {
  appendEvents,
  eventsAfter,
  freshRun,
  range,
  runLogKind,
  texts,
  threadLogKind,
  wordsOf,
} from "./support/facts.ts";
import { logContract } from "./support/log-contract.ts";
import { partsContract } from "./support/parts-contract.ts";
import { removalContract } from "./support/removal-contract.ts";
import { NatsBench } from "./support/nats-bench.ts";
import type { Cut } from "./support/severing-proxy.ts";
import { SeveringProxy } from "./support/severing-proxy.ts";

const signal = new AbortController().signal;
let bench: NatsBench;
let log: Awaited<ReturnType<typeof openRunLog>>;
let other: typeof log;
let threads: readonly [Awaited<ReturnType<typeof openThreadLog>>, ThreadLog];

beforeAll(async () => {
  bench = await NatsBench.open();
  [log, other] = await Promise.all([
    openRunLog(await bench.connect()),
    openRunLog(await bench.connect()),
  ]);
  threads = await Promise.all([
    openThreadLog(await bench.connect()),
    openThreadLog(await bench.connect()),
  ]);
});

afterAll(() => bench[Symbol.asyncDispose]());

logContract("of a run, in JetStream", runLogKind, () => [log, other]);
removalContract("in JetStream", runLogKind, () => [log, other]);
// What follows stores and reads its batches as the log of a run does, so fewer of them show the same.
logContract(
  "of a run, in JetStream, whose absence is confirmed",
  runLogKind,
  () => [confirmAbsence(log), confirmAbsence(other)],
  200,
);
logContract("of a thread, in JetStream", threadLogKind, () => threads, 200);
partsContract("in JetStream", runLogKind, () => log);
externalAppendContract("in JetStream", () => [log, other]);

describe("an append whose outcome is unknown", () => {
  test.each<Cut>(["request", "reply"])("is stored once when the %s is lost", async (cut) => {
    await using proxy = await SeveringProxy.open(bench.port);
    const unlucky = await openRunLog(await bench.connect(proxy.port));
    const key = freshRun();
    const tail = await appendEvents(unlucky, key, emptyTail, texts(emptyTail, "a"), signal);
    const severed = proxy.cutAtNext("run.", cut);
    const appending = unlucky.append(key, tail, texts(tail, "b"), signal);
    await severed;
    proxy.restore();
    const outcome = await appending;
    const stored = await log.read(key, emptyTail, signal);
    expect(outcome).toEqual({ kind: "appended", tail: stored.tail });
    expect(wordsOf(stored.events)).toEqual(["1 a", "2 b"]);
  });

  test("is a conflict when another writer was first meanwhile", async () => {
    await using proxy = await SeveringProxy.open(bench.port);
    const unlucky = await openRunLog(await bench.connect(proxy.port));
    const key = freshRun();
    const severed = proxy.cutAtNext("run.", "request");
    const appending = unlucky.append(key, emptyTail, texts(emptyTail, "mine"), signal);
    await severed;
    await appendEvents(log, key, emptyTail, texts(emptyTail, "theirs"), signal);
    proxy.restore();
    expect(await appending).toEqual({ kind: "conflict" });
    expect(wordsOf((await log.read(key, emptyTail, signal)).events)).toEqual(["1 theirs"]);
  });
});

test("reads stored events that are nested deeper than the limit for new ones", async () => {
  const key = freshRun();
  const nested = (levels: number): JsonObject => (levels === 0 ? {} : { a: nested(levels - 1) });
  const value = { callId: "c", name: "deep", arguments: nested(60) };
  await appendEvents(log, key, emptyTail, eventsAfter(0, { case: "toolCall", value }), signal);
  const { events } = await other.read(key, emptyTail, signal);
  expect(events[0]?.event).toMatchObject({ case: "toolCall", value });
});

test("reads single runs among 10,000", async () => {
  const keys = range(1, 10_000).map((index) => ({ tenant: "many", run: `run_${index}` }));
  for (let start = 0; start < keys.length; start += 500) {
    const written = await Promise.all(
      keys
        .slice(start, start + 500)
        .map((key) => log.append(key, emptyTail, texts(emptyTail, key.run), signal)),
    );
    expect(written.every(({ kind }) => kind === "appended")).toBe(true);
  }
  for (const run of ["run_1", "run_5000", "run_10000"]) {
    const key = { tenant: "many", run };
    const { events, tail } = await other.read(key, emptyTail, signal);
    expect(wordsOf(events)).toEqual([`1 ${run}`]);
    let end = tail;
    for (const word of range(2, 12)) {
      end = await appendEvents(other, key, end, texts(end, `w${word}`), signal);
    }
    expect((await log.read(key, tail, signal)).events).toHaveLength(11);
  }
});

test("reads a log that the store has lost and another writer has written anew", async () => {
  await using own = await NatsBench.open();
  const nats = await own.connect();
  const first = await openRunLog(nats);
  const key = freshRun();
  const write = async (log: RunLog, ...words: readonly string[]) => {
    let tail = emptyTail;
    for (const word of words) {
      tail = await appendEvents(log, key, tail, texts(tail, word), signal);
    }
  };
  await write(first, "lost", "lost too");
  await (await jetstreamManager(nats.connection)).streams.delete("RUNS");
  // Its batches have the revisions of those that the first writer holds.
  await write(await openRunLog(await own.connect()), "new", "newer", "newest");
  // Each of two concurrent reads finds out by itself.
  const reads = await Promise.all(range(1, 2).map(() => first.read(key, emptyTail, signal)));
  for (const { events } of reads) {
    expect(wordsOf(events)).toEqual(["1 new", "2 newer", "3 newest"]);
  }
});

test("can be opened over several connections at the same time", async () => {
  await using own = await NatsBench.open();
  const opened = await Promise.all(
    range(1, 4).map(async () => {
      const nats = await own.connect();
      return Promise.all([openRunLog(nats), openCallJournal(nats)]);
    }),
  );
  expect(opened).toHaveLength(4);
});

test("stores the journal of a call", async () => {
  const journal = await openCallJournal(await bench.connect());
  const key = { ...freshRun(), call: "run_1-2-0" };
  const started = create(ToolCallFactSchema, {
    fact: { case: "started", value: { host: "host" } },
  });
  const cancelled = create(ToolCallFactSchema, { fact: { case: "cancelled", value: {} } });
  expect((await journal.append(key, emptyTail, [started], signal)).kind).toBe("appended");
  expect((await journal.append(key, emptyTail, [cancelled], signal)).kind).toBe("conflict");
  const { events } = await journal.read(key, emptyTail, signal);
  expect(events.map((event) => event.fact.case)).toEqual(["started"]);
});
