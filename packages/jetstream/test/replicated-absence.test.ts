import { Routes } from "../../../test/cluster/support/routes.ts";
import { NatsCluster } from "../../../test/support/nats-cluster.ts";
import { whyNoReplicas } from "../../../test/support/nats-program.ts";
import { ReadableStream } from "node:stream/web";
import { Failure } from "@reeve/platform/failure";
import { test } from "vitest";
import { confirmAbsence } from "../src/log/confirm-absence.ts";
import { ArtifactSchema } from "@reeve/contracts/artifact";
import { bucketOf } from "@reeve/contracts/channel";
import { openArtifactStore } from "../src/objects/nats-artifact-store.ts";
import { openRunLog } from "../src/log/open.ts";
import { openObjects } from "../src/objects/nats.ts";
import type { Objects } from "../src/objects/port.ts";
import { emptyTail } from "../src/log/port.ts";
import { workspaceBucket } from "../src/objects/workspace-store.ts";
import { provisionBuckets } from "../src/streams/provision-buckets.ts";
import { provisionStreams } from "../src/streams/provision-streams.ts";
import { appendEvents, freshRun, texts } from "./support/facts.ts";

const never = new AbortController().signal;
const reason = whyNoReplicas();

/** A cluster whose servers can be cut off from each other. The tests mostly wait for elections and time-outs, each of its own. */
async function startCluster() {
  await using starting = new AsyncDisposableStack();
  const routes = starting.use(new Routes());
  const cluster = starting.use(
    await NatsCluster.start({ routeVia: (from, to) => routes.via(from, to) }),
  );
  const nats = await cluster.connect();
  await provisionStreams(nats, { pools: ["default"], ackWaitMs: 1_000, replicas: 3 }, never);
  await cluster.whole("RUNS");
  const resources = starting.move();
  return { cluster, routes, nats, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

/** Stores an object as soon as a majority has a leader. Returns its name. */
async function writtenBy(objects: Objects): Promise<string> {
  return await untilAvailable(async () => {
    const content = ReadableStream.from([Buffer.from("files")]);
    return (await objects.write("acme/ws", content, never)).name;
  });
}

/** Performs an operation until the store is available. */
async function untilAvailable<Result>(operation: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await operation();
    } catch (error) {
      if (!(error instanceof Failure) || error.kind !== "unavailable") throw error;
    }
  }
}

// Requirement: DUR-4
test.skipIf(reason !== "")(
  `a leader that is cut off from the other servers never says that a run does not exist${reason}`,
  { concurrent: true },
  async ({ expect }) => {
    await using bench = await startCluster();
    const { cluster, routes } = bench;
    const leader = await cluster.leaderOf("RUNS");
    const other = cluster.servers.find(({ name }) => name !== leader)?.name ?? "";
    const cutOff = await openRunLog(await cluster.connect(leader), { maxRetryMs: 500 });
    const log = await openRunLog(await cluster.connect(other), { maxRetryMs: 60_000 });
    const readers = confirmAbsence(cutOff);
    const key = freshRun();

    routes.isolate(leader);
    const tail = await appendEvents(log, key, emptyTail, texts(emptyTail, "a"), never);
    const answer = await readers.read(key, emptyTail, never).catch((error: unknown) => error);
    expect(answer).toBeInstanceOf(Failure);
    expect(answer).toMatchObject({ kind: "unavailable" });

    routes.heal(leader);
    await cluster.whole("RUNS");
    const found = () => readers.last(key, never).then((end) => end.tail);
    await expect.poll(() => found().catch(() => undefined), { timeout: 60_000 }).toEqual(tail);
  },
);

// Requirement: DUR-4
test.skipIf(reason !== "")(
  `a leader that is cut off from the other servers never says that a snapshot does not exist${reason}`,
  { concurrent: true },
  async ({ expect }) => {
    await using bench = await startCluster();
    const { cluster, routes } = bench;
    const stream = `OBJ_${workspaceBucket}`;
    await provisionBuckets(bench.nats, never);
    await cluster.whole(stream);
    const store = { bucket: workspaceBucket, maxBytes: 1_000 };
    const leader = await cluster.leaderOf(stream);
    const other = cluster.servers.find(({ name }) => name !== leader)?.name ?? "";
    const cutOff = await openObjects(await cluster.connect(leader), store);
    const objects = await openObjects(await cluster.connect(other), store);

    routes.isolate(leader);
    const name = await writtenBy(objects);
    const answer = await cutOff.read(name, never).catch((error: unknown) => error);
    expect(answer).toBeInstanceOf(Failure);
    expect(answer).toMatchObject({ kind: "unavailable" });

    routes.heal(leader);
    await cluster.whole(stream);
    expect(await cutOff.read(name, never)).toBeDefined();
    expect(await cutOff.read("acme/missing", never)).toBeUndefined();
  },
);

// Requirement: DUR-4
test.skipIf(reason !== "")(
  `an artifact that was stored is found by a server that was cut off, once it has it${reason}`,
  { concurrent: true },
  async ({ expect }) => {
    await using bench = await startCluster();
    const { cluster, routes } = bench;
    await provisionBuckets(bench.nats, never);
    const stream = `KV_${bucketOf(ArtifactSchema).name}`;
    await cluster.whole(stream);
    const leader = await cluster.leaderOf(stream);
    const other = cluster.servers.find(({ name }) => name !== leader)?.name ?? "";
    const options = { maxBytes: 1_000 };
    const cutOff = await openArtifactStore(await cluster.connect(leader), options);
    const artifacts = await openArtifactStore(await cluster.connect(other), options);
    const draft = { name: "a.txt", mediaType: "text/plain", runId: "run_1", idempotencyKey: "a" };
    const store = () => {
      const content = ReadableStream.from([Buffer.from("text")]);
      return artifacts.put("acme", draft, content, never);
    };

    routes.isolate(leader);
    const { artifactId } = await untilAvailable(store);
    const found = untilAvailable(() => cutOff.getStored("acme", artifactId, never));
    routes.heal(leader);
    expect(await found).toMatchObject({ artifactId });
    expect(await cutOff.get("acme", artifactId, never)).toMatchObject({ artifactId });
  },
);

test.skipIf(reason !== "")(
  `a confirmation that a log does not exist removes no message${reason}`,
  { concurrent: true },
  async ({ expect }) => {
    await using bench = await startCluster();
    const log = await openRunLog(await bench.cluster.connect());
    // A run whose batches were not all confirmed is left behind: its log may be longer than its writer knows.
    const written = async () => {
      const key = freshRun();
      let tail = emptyTail;
      for (const word of ["a", "b", "c"]) {
        tail = await appendEvents(log, key, tail, texts(tail, word), never);
      }
      return key;
    };
    const keys = await Promise.all([1, 2, 3].map(() => untilAvailable(written)));
    const readers = confirmAbsence(log);
    const absent = await Promise.all(
      Array.from({ length: 50 }, () => readers.read(freshRun(), emptyTail, never)),
    );
    expect(absent.every(({ events }) => events.length === 0)).toBe(true);
    for (const key of keys) {
      expect((await log.read(key, emptyTail, never)).batchTails).toHaveLength(3);
    }
  },
);
