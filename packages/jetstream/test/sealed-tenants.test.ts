import { AckPolicy, jetstream, jetstreamManager } from "@nats-io/jetstream";
import { create } from "@bufbuild/protobuf";
import type { Agent } from "@reeve/contracts/agent";
import { AgentSchema } from "@reeve/contracts/agent";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openRunFeed } from "../src/feed/nats.ts";
import { openPositionedRunFeed } from "../src/feed/positioned/nats.ts";
import { openRunLog } from "../src/log/open.ts";
import { emptyTail } from "../src/log/port.ts";
import { expectedLastHeader } from "../src/log/stored-batch.ts";
import { openTable } from "../src/table/nats.ts";
import type { Table } from "../src/table/port.ts";
import { KeyedNats } from "./support/unreadable/keyed-nats.ts";
import { NatsBench } from "./support/nats-bench.ts";
import { shortDelays, unreadableContract } from "./support/unreadable/unreadable-contract.ts";
import {
  startRun,
  takeUntil,
  unreadableFeedContract,
} from "./support/unreadable/unreadable-feed-contract.ts";

const signal = new AbortController().signal;
const resources = new AsyncDisposableStack();
let bench: NatsBench;
let keyed: KeyedNats;
let table: Table<Agent>;

beforeAll(async () => {
  bench = resources.use(await NatsBench.open(signal));
  keyed = new KeyedNats(bench);
  table = await openTable(await keyed.connect(), AgentSchema, { delays: shortDelays });
});

afterAll(() => resources.disposeAsync());

unreadableContract("NATS", () => ({
  table,
  lock: (tenant) => keyed.lock(tenant),
  unlock: (tenant) => keyed.unlock(tenant),
  alter: (key) => keyed.alter("agents", key),
}));

/** Returns the places of altered data that the processes have logged. */
function alteredPlaces(): readonly unknown[] {
  return keyed.logged.flatMap((line) => ("place" in line ? [line.place] : []));
}

/** Opens a log without batches, and its feed. */
async function freshFeed() {
  const nats = await keyed.connect();
  const { streams, consumers } = await jetstreamManager(nats.connection);
  await streams.delete("RUNS").catch(() => undefined);
  const log = await openRunLog(nats);
  return { log, feed: await openRunFeed(nats, { ackWaitMs: 300 }), streams, consumers };
}

unreadableFeedContract("over JetStream", async () => ({
  ...(await freshFeed()),
  lock: (tenant) => keyed.lock(tenant),
  unlock: (tenant) => keyed.unlock(tenant),
}));

/** Opens a log without batches, and its feed with a stored position. */
async function freshPositionedFeed() {
  const nats = await keyed.connect();
  const { streams } = await jetstreamManager(nats.connection);
  await streams.delete("RUNS").catch(() => undefined);
  await streams.delete("KV_projections").catch(() => undefined);
  const log = await openRunLog(nats);
  return { log, feed: await openPositionedRunFeed(nats, { ackWaitMs: 300 }) };
}

unreadableFeedContract("with a stored position", async () => ({
  ...(await freshPositionedFeed()),
  lock: (tenant) => keyed.lock(tenant),
  unlock: (tenant) => keyed.unlock(tenant),
}));

test("a tenant whose key was not available gets its batches from a later reader, in order", async () => {
  const { log, feed } = await freshPositionedFeed();
  const before = await startRun(log, "absent");
  expect(await takeUntil(feed, "reader", before)).toEqual(new Set([before]));
  const waiting: string[] = [];
  for (let run = 0; run < 3; run++) waiting.push(await startRun(log, "absent"));
  const other = await startRun(log, "present");
  keyed.lock("absent");
  expect(await takeUntil(feed, "reader", other)).toEqual(new Set([other]));
  keyed.unlock("absent");
  const last = await startRun(log, "present");
  const runs = await takeUntil(feed, "reader", ...waiting, last);
  expect([...runs].filter((run) => run !== last)).toEqual(waiting);
});

test("a feed has many places, so that batches which wait do not keep those of others", async () => {
  const { log, feed, consumers } = await freshFeed();
  for (let run = 0; run < 3; run++) await startRun(log, "crowd");
  const other = await startRun(log, "other");
  await consumers.add("RUNS", {
    durable_name: "crowded",
    ack_policy: AckPolicy.Explicit,
    headers_only: true,
    max_ack_pending: 2,
  });
  keyed.lock("crowd");
  expect(await takeUntil(feed, "crowded", other)).toEqual(new Set([other]));
  keyed.unlock("crowd");
  const { config } = await consumers.info("RUNS", "crowded");
  expect(config.max_ack_pending).toBe(100_000);
});

test("a batch that was moved to another run is logged, and does not keep those of others", async () => {
  const { log, feed, streams } = await freshFeed();
  const run = await startRun(log, "moved");
  const from = `run.moved.${run}.log`;
  const stored = await streams.getMessage("RUNS", { last_by_subj: from });
  if (stored === null) throw new Error("the batch is not stored");
  stored.header.set(expectedLastHeader, "0");
  const { connection } = await bench.connect();
  const options = { headers: stored.header };
  await jetstream(connection).publish("run.moved.forged.log", stored.data, options);
  const other = await startRun(log, "other");
  keyed.logged.length = 0;
  expect(await takeUntil(feed, "moving", run, other)).toEqual(new Set([run, other]));
  expect(alteredPlaces()).toEqual(["run.moved.forged.log"]);
});

test("a reader does not wait until the key of a run is available", async () => {
  const log = await openRunLog(await keyed.connect(), { maxRetryMs: Infinity });
  const run = await startRun(log, "slow");
  keyed.lock("slow");
  const reading = log.read({ tenant: "slow", run }, emptyTail, signal);
  await expect(reading).rejects.toMatchObject({ kind: "unavailable" });
  keyed.unlock("slow");
});

test("what was altered is logged with its place", async () => {
  await table.put("logged.a", create(AgentSchema, { spec: { name: "a" } }), signal);
  await keyed.alter("agents", "logged.a");
  keyed.logged.length = 0;
  for (let read = 0; read < 3; read++)
    await expect(table.get("logged.a", signal)).rejects.toMatchObject({ kind: "data_loss" });
  expect(alteredPlaces()).toEqual(["agents/logged.a"]);
});
