import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { create, toBinary } from "@bufbuild/protobuf";
import { channelOf } from "@reeve/contracts/channel";
import { lanesOf } from "@reeve/contracts/lane";
import type { Dispatch } from "@reeve/contracts/run";
import { DispatchSchema } from "@reeve/contracts/run";
import { ToolCallRequestSchema } from "@reeve/contracts/tool";
import { afterAll, beforeAll, expect, test } from "vitest";
import { observeStore } from "../src/observe/observed-store.ts";
import { openDispatchQueue } from "../src/queue/lanes/dispatch-queue.ts";
import { openToolCallQueue } from "../src/queue/nats.ts";
import { provisionStreams } from "../src/streams/provision-streams.ts";
import type { Delivery, WorkQueue } from "../src/queue/port.ts";
import { extendIntervalMs } from "../src/queue/port.ts";
import { defaultAckWaitMs } from "@reeve/platform/process/settings";
import { NatsBench } from "./support/nats-bench.ts";
import { fairnessContract } from "./support/fairness-contract.ts";
import { queueContract } from "./support/queue-contract.ts";

const signal = new AbortController().signal;
const ackWaitMs = 800;
let bench: NatsBench;

beforeAll(async () => {
  bench = await NatsBench.open();
});

afterAll(() => bench[Symbol.asyncDispose]());

const open = async () => {
  const nats = await bench.connect();
  const manager = await jetstreamManager(nats.connection);
  // An empty queue without the ids of earlier publications.
  await manager.streams.delete("DISPATCH").catch(() => undefined);
  return await Promise.all([
    openDispatchQueue(nats, { ackWaitMs }),
    openDispatchQueue(await bench.connect(), { ackWaitMs }),
  ]);
};

queueContract("in JetStream", ackWaitMs / 5, open);
fairnessContract("in JetStream", open);

test("only a taker raises the ack-wait of an existing queue, and none lowers it", async () => {
  await using own = await NatsBench.open();
  const nats = await own.connect();
  const manager = await jetstreamManager(nats.connection);
  const ackWaitNanos = async () => {
    const { config } = await manager.consumers.info("DISPATCH", "runtime");
    expect(config.max_deliver).toBe(-1);
    return config.ack_wait;
  };
  await openDispatchQueue(nats, { ackWaitMs: 700 });
  expect(await ackWaitNanos()).toBe(700_000_000);
  await openDispatchQueue(nats, { ackWaitMs: 5_000 });
  await provisionStreams(nats, { pools: [], ackWaitMs: 5_000 }, signal);
  expect(await ackWaitNanos()).toBe(700_000_000);
  const queue = await openDispatchQueue(nats, { ackWaitMs: 5_000, isConsumer: true });
  expect(await ackWaitNanos()).toBe(5_000_000_000);
  await openDispatchQueue(nats, { ackWaitMs: 700, isConsumer: true });
  expect(await ackWaitNanos()).toBe(5_000_000_000);
  // An older version sets its own.
  const stop = new AbortController();
  const taking = queue.take(1, stop.signal)[Symbol.asyncIterator]().next();
  await manager.consumers.update("DISPATCH", "runtime", { ack_wait: 700_000_000 });
  await expect.poll(ackWaitNanos, { timeout: 30_000 }).toBe(5_000_000_000);
  stop.abort(new Error("enough"));
  await expect(taking).rejects.toThrow("enough");
});

test("a taker takes runs from every lane, and those of versions without lanes", async () => {
  await using own = await NatsBench.open();
  const nats = await own.connect();
  const queue = await openDispatchQueue(nats, { ackWaitMs: 5_000, isConsumer: true });
  const { count = 0 } = channelOf(DispatchSchema).lanes ?? {};
  const tenants = Array.from({ length: 100 }, (_, tenant) => `tenant_${tenant}`);
  const firstOf = (lane: number) => tenants.find((each) => lanesOf(each, count)[0] === lane) ?? "";
  const publish = jetstream(nats.connection);
  const stop = new AbortController();
  const taking = queue.take(1, stop.signal)[Symbol.asyncIterator]();
  const taken: (string | undefined)[] = [];
  for (const lane of Array(count).keys()) {
    const tenant = firstOf(lane);
    const dispatch = create(DispatchSchema, { tenant, runId: tenant });
    const next = taking.next();
    await queue.publish(dispatch, { dedupeId: tenant }, signal);
    const delivery: Delivery<Dispatch> | undefined = (await next).value;
    taken.push(delivery?.message.tenant);
    delivery?.acknowledge();
  }
  const old = create(DispatchSchema, { tenant: "old", runId: "run_1" });
  await publish.publish("dispatch.run", toBinary(DispatchSchema, old));
  const delivery: Delivery<Dispatch> | undefined = (await taking.next()).value;
  taken.push(delivery?.message.tenant);
  delivery?.acknowledge();
  expect(taken).toEqual([...Array(count).keys()].map(firstOf).concat("old"));
  stop.abort(new Error("enough"));
  await expect(taking.next()).rejects.toThrow("enough");
});

// Requirement: HOST-10
test("a tenant that shares a lane with a longer queue uses its other lane", async () => {
  await using own = await NatsBench.open();
  const nats = await own.connect();
  const queue = await openDispatchQueue(nats, { ackWaitMs: 5_000, isConsumer: true });
  const { count = 0 } = channelOf(DispatchSchema).lanes ?? {};
  const [long] = lanesOf("acme", count);
  const tenants = Array.from({ length: 100 }, (_, tenant) => `tenant_${tenant}`);
  const other = tenants.find((tenant) => lanesOf(tenant, count)[0] === long) ?? "";
  const publish = (tenant: string, run: number) =>
    queue.publish(create(DispatchSchema, { tenant }), { dedupeId: `${tenant}_${run}` }, signal);
  for (let run = 0; run < 50; run++) await publish("acme", run);
  // A writer that knows the lanes of a second ago may still use the first one.
  const writer = await openDispatchQueue(await own.connect(), { ackWaitMs: 5_000 });
  await writer.publish(create(DispatchSchema, { tenant: other }), { dedupeId: other }, signal);
  const manager = await jetstreamManager(nats.connection);
  const subjects_filter = "dispatch.lane.>";
  const { state } = await manager.streams.info("DISPATCH", { subjects_filter });
  expect(state.subjects).toEqual({
    [`dispatch.lane.${long}.acme`]: 50,
    [`dispatch.lane.${lanesOf(other, count)[1]}.${other}`]: 1,
  });
});

test("a taker restores what others changed in its queue", async () => {
  await using own = await NatsBench.open();
  const nats = await own.connect();
  const manager = await jetstreamManager(nats.connection);
  const open = () => openToolCallQueue(nats, { pool: "left", ackWaitMs: 5_000, isConsumer: true });
  await open();
  const [{ name } = { name: "" }] = await manager.consumers.list("TOOL_CALLS").next();
  const settings = async () => {
    const { config } = await manager.consumers.info("TOOL_CALLS", name);
    const { max_batch = 0, max_bytes = 0, max_expires = 0, inactive_threshold = 0 } = config;
    const { ack_wait, max_ack_pending, max_deliver, filter_subject, backoff = [] } = config;
    const limits = { max_batch, max_bytes, max_expires, inactive_threshold };
    return { ...limits, ack_wait, max_ack_pending, max_deliver, filter_subject, backoff };
  };
  const before = await settings();
  const foreign = {
    max_batch: 1,
    max_bytes: 1_000,
    max_expires: 1_000_000_000,
    inactive_threshold: 3_600_000_000_000,
    max_ack_pending: 1,
    max_deliver: 3,
    backoff: [1_000_000_000, 2_000_000_000],
    filter_subject: "tool.call.right",
  };
  await manager.consumers.update("TOOL_CALLS", name, foreign);
  expect(await settings()).toMatchObject(foreign);
  await open();
  expect(await settings()).toEqual(before);
});

test.each([300, 1_000, 30_000])(
  "a taker with an ack-wait of %i ms keeps its messages when the queue gets the default ack-wait",
  async (ackWaitMs) => {
    const intervalMs = extendIntervalMs(ackWaitMs);
    expect(intervalMs).toBeLessThanOrEqual(ackWaitMs / 3);
    expect(intervalMs).toBeLessThanOrEqual(defaultAckWaitMs / 3);
  },
);

test("each pool has its own calls", async () => {
  const nats = await bench.connect();
  const pools = await Promise.all(
    ["left", "right"].map((pool) => openToolCallQueue(nats, { pool, ackWaitMs })),
  );
  for (const [index, pool] of pools.entries()) {
    const request = create(ToolCallRequestSchema, { runId: `run_${index}` });
    await pool.publish(request, { dedupeId: `call_${index}` }, signal);
  }
  for (const [index, pool] of pools.entries()) {
    const delivery = await first(pool);
    expect(delivery.message.runId).toBe(`run_${index}`);
    delivery.acknowledge();
  }
});

test("a message that cannot be decoded does not stop the queue", async () => {
  const nats = await bench.connect();
  const queue = await openToolCallQueue(nats, { pool: "odd", ackWaitMs });
  await jetstream(nats.connection).publish("tool.call.odd", new Uint8Array([0xff, 0xff]));
  const request = create(ToolCallRequestSchema, { runId: "run_1" });
  await queue.publish(request, { dedupeId: "odd_1" }, signal);
  const delivery = await first(queue);
  expect(delivery).toMatchObject({ message: { runId: "run_1" }, attempt: 1 });
  delivery.acknowledge();
});

test("a queue survives a restart of its server, and its takers continue", async () => {
  await using own = await NatsBench.open();
  const queue = await openDispatchQueue(await own.connect(), { ackWaitMs });
  const taking = queue.take(1, signal)[Symbol.asyncIterator]();
  const next = taking.next();
  const dispatch = create(DispatchSchema, { tenant: "acme", runId: "run_1" });
  await own.kill();
  const publishing = queue.publish(dispatch, { dedupeId: "run_1" }, signal);
  await own.restart();
  await publishing;
  const delivery: Delivery<Dispatch> | undefined = (await next).value;
  expect(delivery?.message.runId).toBe("run_1");
  delivery?.acknowledge();
  await taking.return?.();
});

async function first<Message>(queue: WorkQueue<Message>): Promise<Delivery<Message>> {
  for await (const delivery of queue.take(1, signal)) return delivery;
  throw new Error("the queue ended");
}

test("operators see how many messages wait in each queue, how many are taken, and since when the oldest waits", async () => {
  await using own = await NatsBench.open();
  const nats = await own.connect();
  const observed = observeStore(nats, { get: () => Promise.resolve(undefined) });
  expect(await observed.runQueue()).toEqual([]);
  const runs = await openDispatchQueue(nats, { ackWaitMs: 5_000 });
  for (const [index, tenant] of ["acme", "globex", "acme"].entries()) {
    const runId = `run_${index}`;
    await runs.publish(create(DispatchSchema, { tenant, runId }), { dedupeId: runId }, signal);
  }
  // A consumer counts what waits for it after the stream has acknowledged the messages.
  await expect
    .poll(() => observed.runQueue())
    .toMatchObject([{ name: "", waiting: 3, taken: 0, redelivered: 0 }]);
  const [waiting] = await observed.runQueue();
  expect(Math.abs(Date.now() - (waiting?.oldestMs ?? 0))).toBeLessThan(60_000);
  const taking = new AbortController();
  const deliveries = runs.take(3, taking.signal)[Symbol.asyncIterator]();
  for (let taken = 0; taken < 3; taken++) await deliveries.next();
  await expect
    .poll(() => observed.runQueue())
    .toMatchObject([{ waiting: 0, taken: 3, oldestMs: undefined }]);
  taking.abort();
  const calls = await openToolCallQueue(nats, { pool: "default", ackWaitMs: 5_000 });
  const call = create(ToolCallRequestSchema, { tenant: "acme", runId: "run_1" });
  await calls.publish(call, { dedupeId: "c" }, signal);
  await expect
    .poll(() => observed.toolCallQueues())
    .toMatchObject([{ name: "default", waiting: 1 }]);
  const usage = await observed.usage();
  expect(usage.streams.map(({ name }) => name)).toContain("DISPATCH");
  expect(usage.bytes).toBeGreaterThan(0);
});
