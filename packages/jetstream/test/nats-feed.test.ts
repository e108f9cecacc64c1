import { AckPolicy, jetstreamManager } from "@nats-io/jetstream";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openRunFeed } from "../src/feed/nats.ts";
import { openRunLog } from "../src/log/open.ts";
import { emptyTail } from "../src/log/port.ts";
import { appendEvents, eventsAfter, freshRun } from "./support/facts.ts";
import { feedContract } from "./support/feed-contract.ts";
import { NatsBench } from "./support/nats-bench.ts";

let bench: NatsBench;

beforeAll(async () => {
  bench = await NatsBench.open();
});

afterAll(() => bench[Symbol.asyncDispose]());

feedContract("over JetStream", async () => {
  const nats = await bench.connect();
  await (await jetstreamManager(nats.connection)).streams.delete("RUNS").catch(() => undefined);
  return { log: await openRunLog(nats), feed: await openRunFeed(nats, { ackWaitMs: 300 }) };
});

test("a reader that starts at the end gets what comes after its first start, also while it is away", async () => {
  const signal = new AbortController().signal;
  const nats = await bench.connect();
  const { streams, consumers } = await jetstreamManager(nats.connection);
  await streams.delete("RUNS").catch(() => undefined);
  const log = await openRunLog(nats);
  const feed = await openRunFeed(nats, { start: "end" });
  const create = async () => {
    const key = freshRun();
    const created = { case: "runCreated", value: { tenant: key.tenant } } as const;
    await appendEvents(log, key, emptyTail, eventsAfter(0, created), signal);
    return key.run;
  };
  const first = async (until: AbortSignal) => {
    for await (const batch of feed.consume("late", new Set(["runCreated"]), until)) {
      batch.acknowledge();
      return batch.key.run;
    }
    return undefined;
  };
  await create();
  const start = new AbortController();
  const none = first(start.signal).catch(() => "none");
  await expect.poll(() => consumers.info("RUNS", "late").catch(() => undefined)).toBeDefined();
  start.abort();
  expect(await none).toBe("none");
  const run = await create();
  expect(await first(signal)).toBe(run);
});

test("a reader that ends returns what it did not acknowledge, without the ack-wait", async () => {
  const nats = await bench.connect();
  await (await jetstreamManager(nats.connection)).streams.delete("RUNS").catch(() => undefined);
  const log = await openRunLog(nats);
  const feed = await openRunFeed(nats, { ackWaitMs: 600_000 });
  const key = freshRun();
  const created = { case: "runCreated", value: { tenant: key.tenant } } as const;
  await appendEvents(log, key, emptyTail, eventsAfter(0, created), new AbortController().signal);
  const first = async (end: AbortController) => {
    for await (const batch of feed.consume("leaving", new Set(["runCreated"]), end.signal)) {
      end.abort();
      return batch.key.run;
    }
    return undefined;
  };
  expect(await first(new AbortController())).toBe(key.run);
  expect(await first(new AbortController())).toBe(key.run);
});

test("a reader that ends does not return a batch that it may still process", async () => {
  const nats = await bench.connect();
  await (await jetstreamManager(nats.connection)).streams.delete("RUNS").catch(() => undefined);
  const log = await openRunLog(nats);
  const feed = await openRunFeed(nats, { ackWaitMs: 600_000 });
  const create = async () => {
    const key = freshRun();
    const created = { case: "runCreated", value: { tenant: key.tenant } } as const;
    await appendEvents(log, key, emptyTail, eventsAfter(0, created), new AbortController().signal);
    return key.run;
  };
  const open = (end: AbortController) =>
    feed.consume("busy", new Set(["runCreated"]), end.signal)[Symbol.asyncIterator]();
  const end = new AbortController();
  const leaving = open(end);
  const first = await create();
  expect((await leaving.next()).value?.key.run).toBe(first);
  // It takes the next batch while it processes the first one.
  const next = leaving.next();
  end.abort(new Error("left"));
  await expect(next).rejects.toThrow("left");
  const second = await create();
  const later = open(new AbortController());
  expect((await later.next()).value?.key.run).toBe(second);
  await later.return?.();
});

test("a reader whose consumer an older version created gets complete batches", async () => {
  const signal = new AbortController().signal;
  const nats = await bench.connect();
  const { streams, consumers } = await jetstreamManager(nats.connection);
  await streams.delete("RUNS").catch(() => undefined);
  const log = await openRunLog(nats);
  const older = { durable_name: "older", ack_policy: AckPolicy.Explicit, headers_only: true };
  await consumers.add("RUNS", older);
  const created = async () => {
    const key = freshRun();
    const event = { case: "runCreated", value: { tenant: key.tenant, input: "hello" } } as const;
    await appendEvents(log, key, emptyTail, eventsAfter(0, event), signal);
  };
  await created();
  const inputs: string[] = [];
  for await (const batch of (await openRunFeed(nats)).consume(
    "older",
    new Set(["runCreated"]),
    signal,
  )) {
    batch.acknowledge();
    const [event] = batch.events;
    inputs.push(event?.event.case === "runCreated" ? event.event.value.input : "");
    if (inputs.length === 2) break;
    // A process of the older version reads what it needs, and does not change the consumer.
    await consumers.update("RUNS", "older", { headers_only: true });
    await created();
  }
  expect(inputs).toEqual(["hello", "hello"]);
});
