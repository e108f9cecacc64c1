import { jetstreamManager } from "@nats-io/jetstream";
import { shardOf } from "@reeve/contracts/shard-of";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openRunFeed } from "../src/feed/nats.ts";
import { openPositionedRunFeed } from "../src/feed/positioned/nats.ts";
import { openArchiver } from "../src/log/archive/archiver.ts";
import { openRunLog } from "../src/log/open.ts";
import { emptyTail } from "../src/log/port.ts";
import { openRunCatalog } from "../src/projection/nats-catalog.ts";
import { provisionStreams } from "../src/streams/provision-streams.ts";
import { catalogContract } from "./support/catalog-contract.ts";
import { appendEvents, freshRun, runLogKind, texts, wordsOf } from "./support/facts.ts";
import { logContract } from "./support/log-contract.ts";
import { NatsBench } from "./support/nats-bench.ts";
import { partsContract } from "./support/parts-contract.ts";

const signal = new AbortController().signal;
const queues = { pools: ["default"], ackWaitMs: 1_000 };
let bench: NatsBench;

beforeAll(async () => {
  bench = await NatsBench.open();
});

afterAll(() => bench[Symbol.asyncDispose]());

/** Connects to a store with so many shards, which have no logs. */
async function fresh(runShards: number): Promise<Nats> {
  const nats = await bench.connect();
  const { streams } = await jetstreamManager(nats.connection);
  for (const name of await names(nats)) await streams.delete(name);
  await streams.delete("KV_projections").catch(() => undefined);
  await provisionStreams(nats, { ...queues, runShards }, signal);
  return nats;
}

/** Returns the names of the streams with logs of runs. */
async function names(nats: Nats): Promise<readonly string[]> {
  const { streams } = await jetstreamManager(nats.connection);
  const all = await Array.fromAsync(streams.names());
  return all.filter((name) => /^RUNS(_\d+)?$/.test(name)).toSorted();
}

// Requirement: OPS-11
describe.each([4, 16])("in a store with %i shards,", (runShards) => {
  let log: Awaited<ReturnType<typeof openRunLog>>;
  let other: typeof log;

  beforeAll(async () => {
    await fresh(runShards);
    log = await openRunLog(await bench.connect());
    other = await openRunLog(await bench.connect());
  });

  logContract("of a run", runLogKind, () => [log, other], 200);
  partsContract("of shards", runLogKind, () => log);

  test("a log is archived, and read and removed as before", async () => {
    const nats = await bench.connect();
    const archiver = await openArchiver(nats);
    const key = freshRun();
    const first = await appendEvents(log, key, emptyTail, texts(emptyTail, "a"), signal);
    await appendEvents(log, key, first, texts(first, "b"), signal);
    expect(await archiver.archive(key, signal)).toBe("closed");
    const { events, tail } = await other.read(key, emptyTail, signal);
    expect(wordsOf(events)).toEqual(["1 a", "2 b"]);
    await log.removeThrough(key, tail.revision, signal);
    expect((await other.read(key, emptyTail, signal)).events).toEqual([]);
  });

  test("a log is in one stream, under a name that does not depend on the shards", async () => {
    const nats = await bench.connect();
    const { streams } = await jetstreamManager(nats.connection);
    const key = freshRun();
    const tail = await appendEvents(log, key, emptyTail, texts(emptyTail, "a"), signal);
    const shard = shardOf({ tenant: key.tenant, run: key.run }, runShards);
    const subject = `run.${key.tenant}.${key.run}.log.${shard}`;
    const stored = await streams.getMessage(`RUNS_${shard}`, { last_by_subj: subject });
    expect(stored?.seq).toBe(tail.revision);
    expect(await names(nats)).toHaveLength(runShards);
  });
});

catalogContract("over shards", async () => {
  const nats = await fresh(4);
  return { log: await openRunLog(nats), catalog: await openRunCatalog(nats) };
});

describe.each([
  ["a durable consumer", openRunFeed],
  ["a stored position", openPositionedRunFeed],
] as const)("a feed over shards with %s", (_, openFeed) => {
  const kinds = new Set(["text"]);

  test("yields the batches of all logs, those of each log in order, and continues after a restart", async () => {
    const nats = await fresh(4);
    const log = await openRunLog(nats);
    const keys = Array.from({ length: 20 }, freshRun);
    const write = async (from: number) => {
      for (const key of keys) {
        const { tail } = await log.last(key, signal);
        await appendEvents(log, key, tail, texts(tail, `${from}`, `${from + 1}`), signal);
      }
    };
    const take = async () => {
      const reader = new AbortController();
      const words = new Map<string, string[]>();
      let left = keys.length;
      const feed = await openFeed(nats);
      try {
        for await (const { key, events, acknowledge } of feed.consume(
          "all",
          kinds,
          reader.signal,
        )) {
          acknowledge();
          words.set(key.run, [...(words.get(key.run) ?? []), ...wordsOf(events)]);
          if (--left === 0) break;
        }
      } finally {
        reader.abort();
      }
      return words;
    };
    await write(1);
    expect(await take()).toEqual(new Map(keys.map(({ run }) => [run, ["1 1", "2 2"]])));
    await write(3);
    expect(await take()).toEqual(new Map(keys.map(({ run }) => [run, ["3 3", "4 4"]])));
  });
});

// Requirement: OPS-11
test("a store keeps the number of shards with which it was created", async () => {
  const nats = await fresh(4);
  const again = provisionStreams(nats, { ...queues, runShards: 4 }, signal);
  expect(await again).toContain("RUNS_3");
  await expect(provisionStreams(nats, queues, signal)).rejects.toMatchObject({
    kind: "precondition",
    message: expect.stringContaining("RUNS has 4 shards, and 1 are requested") as unknown,
  });
  await fresh(1);
  const more = provisionStreams(nats, { ...queues, runShards: 2 }, signal);
  await expect(more).rejects.toMatchObject({ kind: "precondition" });
});

test("provisioning that was interrupted is completed by the next one", async () => {
  const nats = await fresh(4);
  const { streams } = await jetstreamManager(nats.connection);
  for (const name of ["RUNS_0", "RUNS_1"]) await streams.delete(name);
  await provisionStreams(nats, { ...queues, runShards: 4 }, signal);
  expect(await names(nats)).toEqual(["RUNS_0", "RUNS_1", "RUNS_2", "RUNS_3"]);
});

test("a version without shards cannot create its stream beside them", async () => {
  const nats = await fresh(2);
  const { streams } = await jetstreamManager(nats.connection);
  const former = streams.add({ name: "RUNS", subjects: ["run.*.*.log"] });
  await expect(former).rejects.toThrow("subjects overlap");
});

test("a first shard that does not say how many there are is not taken for none", async () => {
  const nats = await fresh(2);
  const { streams } = await jetstreamManager(nats.connection);
  await streams.update("RUNS_0", { description: "mine" });
  await expect(openRunLog(await bench.connect())).rejects.toMatchObject({
    kind: "precondition",
    message: expect.stringContaining("RUNS_0") as unknown,
  });
});

test("a store that has lost its first shard is not provisioned without shards", async () => {
  const nats = await fresh(4);
  const { streams } = await jetstreamManager(nats.connection);
  await streams.delete("RUNS_0");
  await expect(provisionStreams(nats, queues, signal)).rejects.toMatchObject({
    kind: "precondition",
    message: expect.stringContaining("RUNS has 4 shards, and 1 are requested") as unknown,
  });
});
