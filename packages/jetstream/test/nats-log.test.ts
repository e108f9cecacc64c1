import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import type { NatsConnection, SubscriptionOptions } from "@nats-io/transport-node";
import { headers } from "@nats-io/transport-node";
import { RunBatchSchema } from "@reeve/contracts/run";
import { ErrorReason } from "@reeve/contracts/error";
import { ToolCallFactSchema } from "@reeve/contracts/tool";
import type { JsonObject } from "@bufbuild/protobuf";
import { create, toBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { confirmAbsence } from "../src/log/confirm-absence.ts";
import { emptyTail } from "../src/log/port.ts";
import { openCallJournal, openRunLog, openThreadLog } from "../src/log/open.ts";
import type { ThreadLog } from "../src/log/thread-log.ts";
import { externalAppendContract } from "./support/external-append-contract.ts";
import {
  appendEvents,
  eventsAfter,
  followUntil,
  freshRun,
  runLogKind,
  texts,
  threadLogKind,
  wordsOf,
} from "./support/facts.ts";
import { logContract, range } from "./support/log-contract.ts";
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
logContract("of a run, in JetStream, whose absence is confirmed", runLogKind, () => [
  confirmAbsence(log),
  confirmAbsence(other),
]);
logContract("of a thread, in JetStream", threadLogKind, () => threads);
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

describe("a follower", () => {
  test("reads from the store what it did not receive", async () => {
    const { connection } = await bench.connect();
    const deaf = await openRunLog({
      connection: receivingSome(connection, (nth) => nth % 3 === 0),
    });
    const key = freshRun();
    const following = followUntil(deaf.follow(key, 0, signal), 30);
    let tail = emptyTail;
    for (const index of range(1, 30)) {
      tail = await appendEvents(log, key, tail, texts(tail, `w${index}`), signal);
    }
    expect((await following).map(({ sequence }) => sequence)).toEqual(range(1, 30));
  });

  test("finds what it never received when the log is quiet", async () => {
    const { connection } = await bench.connect();
    const options = { tailCheckMs: 20 };
    const deaf = await openRunLog({ connection: receivingSome(connection, () => false) }, options);
    const key = freshRun();
    const ranges = deaf.follow(key, 0, signal)[Symbol.asyncIterator]();
    const first = await appendEvents(log, key, emptyTail, texts(emptyTail, "a"), signal);
    expect((await ranges.next()).value?.tail).toEqual(first);
    const second = await appendEvents(log, key, first, texts(first, "b"), signal);
    expect((await ranges.next()).value?.tail).toEqual(second);
    await ranges.return?.();
  });

  test.each([1, 2])(
    "fails when the store lost %i batches that it had read, and stores others",
    async (lost) => {
      const key = freshRun();
      const tails = [emptyTail];
      for (const word of ["a", "b", "c"]) {
        const tail = tails.at(-1) ?? emptyTail;
        tails.push(await appendEvents(log, key, tail, texts(tail, word), signal));
      }
      const following = Array.fromAsync(other.follow(key, tails.at(-1) ?? 0, signal));
      const failed = following.catch((error: unknown) => error);
      const { connection } = await bench.connect();
      const manager = await jetstreamManager(connection);
      await manager.streams.purge("RUNS", { filter: `run.${key.tenant}.${key.run}.log` });
      let tail = emptyTail;
      for (const word of [...["a", "b", "c"].slice(0, -lost), "x", "y", "z"]) {
        tail = await appendEvents(log, key, tail, texts(tail, word), signal);
      }
      expect(await failed).toMatchObject({ kind: "data_loss", reason: ErrorReason.HISTORY_LOST });
    },
  );

  test("continues a log of a version that wrote no digests", async () => {
    const key = freshRun();
    const { connection } = await bench.connect();
    const write = async (sequence: number, revision: number) => {
      const old = headers();
      old.set("Reeve-First-Sequence", String(sequence));
      old.set("Reeve-Last-Sequence", String(sequence));
      old.set("Reeve-Kinds", "text");
      old.set("Nats-Expected-Last-Subject-Sequence", String(revision));
      const events = eventsAfter(sequence - 1, { case: "text", value: { text: "old" } });
      const batch = create(RunBatchSchema, { firstSequence: sequence, events });
      const subject = `run.${key.tenant}.${key.run}.log`;
      const options = { headers: old };
      return (
        await jetstream(connection).publish(subject, toBinary(RunBatchSchema, batch), options)
      ).seq;
    };
    await write(2, await write(1, 0));
    const { tail } = await log.read(key, emptyTail, signal);
    await appendEvents(log, key, tail, texts(tail, "new"), signal);
    const { events, batchTails } = await other.read(key, emptyTail, signal);
    expect(wordsOf(events)).toEqual(["1 old", "2 old", "3 new"]);
    expect(new Set(batchTails.map(({ digest }) => digest.length))).toEqual(new Set([64]));
  });

  test("leaves no subscription behind", async () => {
    const { connection } = await bench.connect();
    const subjects = new Set<string>();
    const watched = receivingSome(connection, () => true, subjects);
    const watching = await openRunLog({ connection: watched });
    const key = freshRun();
    await appendEvents(log, key, emptyTail, texts(emptyTail, "a"), signal);
    await followUntil(watching.follow(key, 0, signal), 1);
    const stop = new AbortController();
    const ranges = watching.follow(key, 0, stop.signal)[Symbol.asyncIterator]();
    await ranges.next();
    expect(subjects.size).toBe(1);
    stop.abort(new Error("enough"));
    await expect(ranges.next()).rejects.toThrow("enough");
    expect(subjects.size).toBe(0);
  });
});

test("has all events after its server was killed, and its followers continue", async () => {
  await using own = await NatsBench.open();
  const survivor = await openRunLog(await own.connect());
  const key = freshRun();
  const first = await appendEvents(survivor, key, emptyTail, texts(emptyTail, "a", "b"), signal);
  const ranges = survivor.follow(key, 0, signal)[Symbol.asyncIterator]();
  expect((await ranges.next()).value?.tail).toEqual(first);
  const next = ranges.next();
  await own.kill();
  const appending = survivor.append(key, first, texts(first, "c"), signal);
  await own.restart();
  expect((await appending).kind).toBe("appended");
  expect(wordsOf((await next).value?.events ?? [])).toEqual(["3 c"]);
  expect((await survivor.read(key, emptyTail, signal)).events).toHaveLength(3);
  await ranges.return?.();
});

test("reads a long history completely although its server is killed meanwhile", async () => {
  await using own = await NatsBench.open();
  const survivor = await openRunLog(await own.connect());
  const key = freshRun();
  let tail = emptyTail;
  for (const index of range(1, 6_000)) {
    tail = await appendEvents(survivor, key, tail, texts(tail, `w${index}`), signal);
  }
  const reading = survivor.read(key, emptyTail, signal);
  const following = followUntil(survivor.follow(key, 0, signal), tail.sequence);
  // By then both are in progress: the server answers each of these requests after as many of theirs.
  for (let request = 0; request < 10; request++) await survivor.last(key, signal);
  await own.kill();
  await own.restart();
  for (const events of [(await reading).events, await following]) {
    expect(events.map(({ sequence }) => sequence)).toEqual(range(1, 6_000));
  }
});

test("fails as unavailable when the store is down for long", async () => {
  await using own = await NatsBench.open();
  const lost = await openRunLog(await own.connect(), { maxRetryMs: 100 });
  await own.kill();
  await expect(
    lost.append(freshRun(), emptyTail, texts(emptyTail, "a"), signal),
  ).rejects.toMatchObject({ kind: "unavailable", reason: ErrorReason.UNAVAILABLE });
});

test("rejects appends, and keeps its events, when the store is full", async () => {
  await using own = await NatsBench.open();
  const { connection } = await own.connect();
  const small = await openRunLog({ connection });
  await (await jetstreamManager(connection)).streams.update("RUNS", { max_bytes: 2_000 });
  const key = freshRun();
  const tail = await appendEvents(
    small,
    key,
    emptyTail,
    texts(emptyTail, "a".repeat(1_000)),
    signal,
  );
  await expect(
    small.append(key, tail, texts(tail, "b".repeat(1_000)), signal),
  ).rejects.toMatchObject({ kind: "exhausted", reason: ErrorReason.STORAGE_FULL });
  expect((await small.read(key, emptyTail, signal)).tail).toEqual(tail);
});

test("yields a very long log to a follower in parts", async () => {
  const key = freshRun();
  const word = "x".repeat(700_000);
  let tail = emptyTail;
  for (let count = 0; count < 24; count++) {
    tail = await appendEvents(log, key, tail, texts(tail, word), signal);
  }
  const lengths: number[] = [];
  for await (const range of log.follow(key, 1, signal)) {
    lengths.push(range.events.length);
    if (range.tail.sequence === tail.sequence) break;
  }
  expect(lengths.reduce((sum, length) => sum + length)).toBe(tail.sequence - 1);
  // Each batch is larger than a part.
  expect(Math.max(...lengths)).toBe(1);
  const whole = await log.read(key, emptyTail, signal);
  expect(whole.tail).toEqual(tail);
});

test("follows a long log from a sequence far behind its end, also where absence is confirmed", async () => {
  const key = freshRun();
  let tail = emptyTail;
  for (let count = 0; count < 24; count++) {
    tail = await appendEvents(log, key, tail, texts(tail, "x".repeat(300_000)), signal);
  }
  for (let count = 0; count < 250; count++) {
    tail = await appendEvents(log, key, tail, texts(tail, `w${count}`), signal);
  }
  for (const reader of [other, confirmAbsence(other)]) {
    const timeout = AbortSignal.any([signal, AbortSignal.timeout(60_000)]);
    const events = await followUntil(reader.follow(key, 24, timeout), tail.sequence);
    expect(events.map(({ sequence }) => sequence)).toEqual(range(25, tail.sequence));
  }
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

/** Returns a connection that receives only some republished messages: those for whose number `receives` returns true. */
function receivingSome(
  connection: NatsConnection,
  receives: (nth: number) => boolean,
  subjects: Set<string> = new Set(),
): NatsConnection {
  let received = 0;
  const subscribe = (subject: string, options: SubscriptionOptions = {}) => {
    const { callback } = options;
    if (!subject.startsWith("live.") || callback === undefined) {
      return connection.subscribe(subject, options);
    }
    subjects.add(subject);
    const subscription = connection.subscribe(subject, {
      ...options,
      callback: (error, message) => {
        if (receives(++received)) void callback(error, message);
      },
    });
    void subscription.closed.then(() => subjects.delete(subject));
    return subscription;
  };
  return new Proxy(connection, {
    get: (target, name) => {
      if (name === "subscribe") return subscribe;
      const member: unknown = Reflect.get(target, name);
      return typeof member === "function" ? (member.bind(target) as unknown) : member;
    },
  });
}
