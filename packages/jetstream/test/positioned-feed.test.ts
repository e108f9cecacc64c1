import { AckPolicy, jetstreamManager } from "@nats-io/jetstream";
import { createInbox } from "@nats-io/transport-node";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Projection } from "@reeve/contracts/projection";
import { ProjectionSchema } from "@reeve/contracts/projection";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openRunFeed } from "../src/feed/nats.ts";
import { openPositionedRunFeed } from "../src/feed/positioned/nats.ts";
import type { RunFeed } from "../src/feed/run-feed.ts";
import { openRunLog } from "../src/log/open.ts";
import type { RunLog } from "../src/log/run-log.ts";
import { openTable } from "../src/table/nats.ts";
import { feedContract } from "./support/feed-contract.ts";
import { NatsBench } from "./support/nats-bench.ts";
import { startRun, takeUntil } from "./support/unreadable/unreadable-feed-contract.ts";

const signal = new AbortController().signal;
const kinds = new Set(["runCreated"]);
let bench: NatsBench;

beforeAll(async () => {
  bench = await NatsBench.open();
});

afterAll(() => bench[Symbol.asyncDispose]());

/** Opens a log without batches, and its feed without positions. */
async function fresh(ackWaitMs = 300) {
  const nats = await bench.connect();
  const { streams, consumers } = await jetstreamManager(nats.connection);
  await streams.delete("RUNS").catch(() => undefined);
  await streams.delete("KV_projections").catch(() => undefined);
  const log = await openRunLog(nats);
  const positions = await openTable(nats, ProjectionSchema);
  return {
    nats,
    log,
    feed: await openPositionedRunFeed(nats, { ackWaitMs }),
    consumers,
    positions,
  };
}

feedContract("with a stored position", fresh);

/** Returns the runs of the next batches, and acknowledges them. */
async function take(feed: RunFeed, count: number): Promise<readonly string[]> {
  const runs: string[] = [];
  for await (const batch of feed.consume("reader", kinds, signal)) {
    batch.acknowledge();
    if (runs.push(batch.key.run) === count) break;
  }
  return runs;
}

async function startRuns(log: RunLog, count: number): Promise<readonly string[]> {
  const runs: string[] = [];
  for (let index = 0; index < count; index++) runs.push(await startRun(log, "acme"));
  return runs;
}

test("each process gets every batch, and a new one starts where another one has arrived", async () => {
  const { log, feed } = await fresh();
  const early = await startRuns(log, 2);
  const [one, other] = await Promise.all([take(feed, 3), take(feed, 3), startRuns(log, 1)]);
  expect(one).toEqual(other);
  expect(one.slice(0, 2)).toEqual(early);
  const late = await startRuns(log, 1);
  expect(await take(feed, 1)).toEqual(late);
});

test("a batch that is not acknowledged in time comes again, and does not keep the position", async () => {
  const { log, feed, positions } = await fresh(100);
  const [failing] = await startRuns(log, 1);
  const others = await startRuns(log, 3);
  const got: string[] = [];
  for await (const batch of feed.consume("reader", kinds, signal)) {
    got.push(batch.key.run);
    if (batch.key.run !== failing) batch.acknowledge();
    if (got.filter((run) => run === failing).length >= 3 && got.includes(others[2] ?? "")) break;
  }
  // A process that stands still may get it again before the others.
  expect([...new Set(got)]).toEqual([failing, ...others]);
  const position = (await positions.get("reader", signal))?.record.position;
  expect(position).toMatchObject({ sequence: 4n, setAside: [1n] });
  expect(await take(feed, 1)).toEqual([failing]);
});

test("a process that is killed leaves its position, at most a second old", async () => {
  const { log, feed, positions } = await fresh();
  const runs = await startRuns(log, 3);
  const reading = feed.consume("reader", kinds, signal)[Symbol.asyncIterator]();
  for (const run of runs) {
    const { value } = await reading.next();
    expect(value?.key.run).toBe(run);
    value?.acknowledge();
  }
  // It reads on, and is never told to end.
  reading.next().catch(() => undefined);
  await expect
    .poll(async () => (await positions.get("reader", signal))?.record.position?.sequence, {
      timeout: 5_000,
    })
    .toBe(3n);
});

test("a stream that was replaced, or has lost what was read, is read from its beginning", async () => {
  const { nats, log, feed, positions } = await fresh();
  const runs = await startRuns(log, 2);
  expect(await take(feed, 2)).toEqual(runs);
  const change = async (changed: Partial<NonNullable<Projection["position"]>>) => {
    const row = await positions.get("reader", signal);
    const position = row?.record.position;
    if (row === undefined || position === undefined) throw new Error("there is no position");
    await positions.put("reader", { ...row.record, position: { ...position, ...changed } }, signal);
  };
  await change({ receivedStoredAt: timestampFromMs(0) });
  expect(await take(feed, 2)).toEqual(runs);
  await change({ sequence: 9n, receivedSequence: 9n });
  expect(await take(feed, 2)).toEqual(runs);
  const { streams } = await jetstreamManager(nats.connection);
  await streams.delete("RUNS");
  const [other] = await startRuns(await openRunLog(nats), 1);
  expect(await take(feed, 1)).toEqual([other]);
});

test("the last batch is not lost with the connection on which it was sent", async () => {
  const { nats, log } = await fresh();
  const feed = await openPositionedRunFeed(nats, { pullMs: 1_000 });
  const { consumers } = await jetstreamManager(nats.connection);
  const reading = take(feed, 2);
  const consumerOfFeed = async () => {
    for await (const { name } of consumers.list("RUNS")) return name;
    return undefined;
  };
  await expect.poll(consumerOfFeed).toBeDefined();
  // Another pull takes a batch that the reader does not get.
  const stolen = nats.connection.subscribe(createInbox(), { max: 1 });
  const pull = `$JS.API.CONSUMER.MSG.NEXT.RUNS.${await consumerOfFeed()}`;
  const next = JSON.stringify({ batch: 1, expires: 5_000_000_000 });
  nats.connection.publish(pull, next, { reply: stolen.getSubject() });
  await nats.connection.flush();
  const runs = await startRuns(log, 2);
  for await (const message of stolen) expect(message.subject).toContain("run.");
  expect((await reading).toSorted()).toEqual(runs.toSorted());
});

test("continues after what an earlier version has acknowledged", async () => {
  const { nats, log, feed, consumers } = await fresh();
  const [first, second] = await startRuns(log, 2);
  expect(await takeUntil(await openRunFeed(nats), "reader", first ?? "")).toContain(first);
  await expect
    .poll(async () => (await consumers.info("RUNS", "reader")).ack_floor.stream_seq)
    .toBe(1);
  expect(await take(feed, 1)).toEqual([second]);
});

test("reads without acknowledgements, and leaves no consumer behind", async () => {
  const { log, feed, consumers } = await fresh();
  await startRuns(log, 1);
  for await (const batch of feed.consume("reader", kinds, signal)) {
    batch.acknowledge();
    const policies: AckPolicy[] = [];
    for await (const { config } of consumers.list("RUNS")) policies.push(config.ack_policy);
    expect(policies).toEqual([AckPolicy.None]);
    break;
  }
  await expect
    .poll(async () => {
      let count = 0;
      for await (const _ of consumers.list("RUNS")) count++;
      return count;
    })
    .toBe(0);
});
