import { create } from "@bufbuild/protobuf";
import { bucketOf } from "@reeve/contracts/channel";
import { DispatchSchema, RunSchema } from "@reeve/contracts/run";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { whyNoReplicas } from "../../../test/support/nats-program.ts";
import { openRunFeed } from "../src/feed/nats.ts";
import { openRunLog, openThreadLog } from "../src/log/open.ts";
import { emptyTail } from "../src/log/port.ts";
import type { RunLog } from "../src/log/run-log.ts";
import { openObjects } from "../src/objects/nats.ts";
import { workspaceBucket } from "../src/objects/workspace-store.ts";
import { openDispatchQueue } from "../src/queue/lanes/dispatch-queue.ts";
import { openReserve } from "../src/reserve/keep-reserve.ts";
import { reserveStream } from "../src/reserve/reserve-state.ts";
import { openJetStreamManager } from "../src/streams/ensure-stream.ts";
import { openTable } from "../src/table/nats.ts";
import { raceAppends } from "./support/append-races.ts";
import { laggingConnection } from "./support/lagging-connection.ts";
import { appendEvents, eventsAfter, freshRun, texts } from "./support/facts.ts";
import type { ReplicatedStreams } from "./support/replicated-streams.ts";
import { startReplicatedStreams } from "./support/replicated-streams.ts";

const reason = whyNoReplicas();
const never = new AbortController().signal;
const exactlyOneWinner = { severalWinners: 0, noWinner: 0, lostBatches: 0 };

describe.skipIf(reason !== "")(`over three servers${reason}`, () => {
  let streams: ReplicatedStreams;
  let logs: readonly [RunLog, RunLog, RunLog];

  beforeAll(async () => {
    streams = await startReplicatedStreams();
    const [first, second, third] = streams.connections;
    logs = await Promise.all([openRunLog(first), openRunLog(second), openRunLog(third)]);
  });
  afterAll(() => streams[Symbol.asyncDispose]());

  // A stream that gets its replicas later splits when a server restarts soon afterwards.
  test("streams and buckets are created with their replicas", async () => {
    const { streams: api } = await openJetStreamManager(streams.connections[0].connection);
    const counts = new Set<number>();
    for await (const { config } of api.list()) counts.add(config.num_replicas);
    expect([...counts]).toEqual([3]);
  });

  test("what a service creates again after a deletion has as many replicas as the logs of runs", async () => {
    const service = await streams.cluster.connect();
    const { streams: api } = await openJetStreamManager(service.connection);
    const deleted = [`KV_${bucketOf(RunSchema).name}`, `OBJ_${workspaceBucket}`, reserveStream];
    for (const stream of [...deleted, "THREADS"]) await api.delete(stream);
    await openTable(service, RunSchema);
    await openObjects(service, { bucket: workspaceBucket, maxBytes: 1_000 });
    await openReserve(service);
    await openThreadLog(service);
    for (const stream of [...deleted, "THREADS"]) {
      expect((await api.info(stream)).config.num_replicas).toBe(3);
    }
  });

  // Requirement: DUR-4
  test("of three writers with the same tail exactly one is told that its batch is stored", async () => {
    expect(await raceAppends(logs, 200)).toEqual(exactlyOneWinner);
  });

  // Requirement: DUR-4
  test("at most one is told so while the leader of the stream changes", async () => {
    const counts = await raceAppends(logs, 40, async (race) => {
      if (race % 4 === 0) await streams.cluster.stepDown("RUNS");
    });
    expect({ ...counts, noWinner: 0 }).toEqual(exactlyOneWinner);
  });

  test("each reader sees an append that was acknowledged to another", async () => {
    const [writer] = logs;
    for (let round = 0; round < 150; round++) {
      const key = freshRun();
      const tail = await appendEvents(writer, key, emptyTail, texts(emptyTail, "a"), never);
      for (const { tail: seen } of await Promise.all(
        logs.map((log) => log.read(key, emptyTail, never)),
      )) {
        expect(seen).toEqual(tail);
      }
    }
  });

  test("each reader sees all of a log that another writes, without a gap", async () => {
    const [writer] = logs;
    for (let round = 0; round < 10; round++) {
      const key = freshRun();
      const tails = [emptyTail];
      for (let length = 1; length <= 12; length++) {
        const tail = tails.at(-1) ?? emptyTail;
        tails.push(await appendEvents(writer, key, tail, texts(tail, "a"), never));
        const from = tails.at(-4) ?? emptyTail;
        for (const { tail: seen } of await Promise.all(
          logs.map((log) => log.read(key, from, never)),
        )) {
          expect(seen).toEqual(tails.at(-1));
        }
      }
    }
  });

  test("each server holds a message of a queue as soon as it is published over another", async () => {
    const queues = await Promise.all(
      streams.connections.map((nats) => openDispatchQueue(nats, { ackWaitMs: 1_000 })),
    );
    const [publisher] = queues;
    for (let round = 0; round < 150; round++) {
      const message = create(DispatchSchema, { tenant: "acme", runId: `held_${round}` });
      const sequence = await publisher?.publish(message, { dedupeId: `held_${round}` }, never);
      const held = await Promise.all(queues.map((queue) => queue.holds(sequence ?? 0, never)));
      expect(held).toEqual([true, true, true]);
    }
  });

  test("a reader whose server lags reads everything from the leader", async () => {
    const [first, second] = streams.connections;
    const lagging = { connection: laggingConnection(second.connection) };
    const log = await openRunLog(first);
    const lateLog = await openRunLog(lagging);
    const queue = await openDispatchQueue(lagging, { ackWaitMs: 1_000 });
    const key = freshRun();
    const tails = [emptyTail];
    for (const word of ["a", "b", "c"]) {
      const tail = tails.at(-1) ?? emptyTail;
      tails.push(await appendEvents(log, key, tail, texts(tail, word), never));
      for (const from of tails) {
        expect((await lateLog.read(key, from, never)).tail).toEqual(tails.at(-1));
      }
      expect((await lateLog.last(key, never)).tail).toEqual(tails.at(-1));
    }
    const message = create(DispatchSchema, { tenant: "acme", runId: key.run });
    const sequence = await queue.publish(message, { dedupeId: key.run }, never);
    expect(await queue.holds(sequence, never)).toBe(true);
    expect(await queue.holds(sequence + 1, never)).toBe(false);
  });

  test("a feed whose server lags reads each batch from the leader", async () => {
    const [first, second] = streams.connections;
    const key = freshRun();
    const created = eventsAfter(0, { case: "runCreated", value: { tenant: key.tenant } });
    await appendEvents(await openRunLog(first), key, emptyTail, created, never);
    const feed = await openRunFeed({ connection: laggingConnection(second.connection) });
    const seen = new Set<string>();
    for await (const batch of feed.consume("lagging", new Set(["runCreated"]), never)) {
      batch.acknowledge();
      seen.add(batch.key.run);
      if (seen.has(key.run)) break;
    }
    expect(seen).toContain(key.run);
  });

  test("a feed delivers every batch, over each server", async () => {
    await streams.replace("RUNS");
    const [writer] = streams.connections;
    const log = await openRunLog(writer);
    const feeds = await Promise.all(streams.connections.map((nats) => openRunFeed(nats)));
    const count = 300;
    const receiving = feeds.map(async (feed, index) => {
      const received = new Set<string>();
      for await (const batch of feed.consume(`reader-${index}`, new Set(["runCreated"]), never)) {
        received.add(batch.key.run);
        batch.acknowledge();
        if (received.size === count) break;
      }
      return received.size;
    });
    for (let run = 0; run < count; run++) {
      const created = eventsAfter(0, { case: "runCreated", value: { tenant: "acme" } });
      await appendEvents(log, freshRun(), emptyTail, created, never);
    }
    expect(await Promise.all(receiving)).toEqual([count, count, count]);
  });
});
