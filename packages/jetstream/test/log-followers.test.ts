import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import type { NatsConnection, SubscriptionOptions } from "@nats-io/transport-node";
import { headers } from "@nats-io/transport-node";
import { create, toBinary } from "@bufbuild/protobuf";
import { ErrorReason } from "@reeve/contracts/error";
import { RunBatchSchema } from "@reeve/contracts/run";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { confirmAbsence } from "../src/log/confirm-absence.ts";
import { shareLiveBatches } from "../src/log/follow/live-hub.ts";
import { openRunLog } from "../src/log/open.ts";
import { emptyTail } from "../src/log/port.ts";
import {
  appendEvents,
  eventsAfter,
  followUntil,
  freshRun,
  texts,
  wordsOf,
  range,
} from "./support/facts.ts";
import { NatsBench } from "./support/nats-bench.ts";

const signal = new AbortController().signal;
let bench: NatsBench;
let log: Awaited<ReturnType<typeof openRunLog>>;
let other: typeof log;

beforeAll(async () => {
  bench = await NatsBench.open();
  [log, other] = await Promise.all([
    openRunLog(await bench.connect()),
    openRunLog(await bench.connect()),
  ]);
});

afterAll(() => bench[Symbol.asyncDispose]());

describe("a follower of a log in JetStream", () => {
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

  test("yields a very long log in parts", async () => {
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

  test("reads a long log from a sequence far behind its end, also where absence is confirmed", async () => {
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

test("followers in the only writing process get batches without a subscription, and find others in the store", async () => {
  const [writer, reader] = [await bench.connect(), await bench.connect()];
  shareLiveBatches([writer.connection, reader.connection]);
  const subscribed: string[] = [];
  const { connection } = reader;
  const subscribe = connection.subscribe.bind(connection);
  connection.subscribe = (subject, options) => {
    subscribed.push(subject);
    return subscribe(subject, options);
  };
  const own = await openRunLog(writer);
  const followed = await openRunLog(reader, { tailCheckMs: 20 });
  const key = freshRun();
  const following = followUntil(followed.follow(key, 0, signal), 3);
  let tail = emptyTail;
  // The last one comes from a process that passes nothing on.
  for (const [from, word] of [
    [own, "a"],
    [own, "b"],
    [log, "c"],
  ] as const) {
    tail = await appendEvents(from, key, tail, texts(tail, word), signal);
  }
  expect(wordsOf(await following)).toEqual(["1 a", "2 b", "3 c"]);
  expect(subscribed.filter((subject) => subject.startsWith("live."))).toEqual([]);
});
