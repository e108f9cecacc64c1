import { DiscardPolicy, jetstreamManager, RetentionPolicy } from "@nats-io/jetstream";
import { findProgram } from "@reeve/platform/nats/nats-server";
import { AgentSchema } from "@reeve/contracts/agent";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { NatsCluster } from "../../../test/support/nats-cluster.ts";
import { natsVersion } from "../../../test/support/nats-program.ts";
import { openRunLog, openThreadLog } from "../src/log/open.ts";
import { openArtifactStore } from "../src/objects/nats-artifact-store.ts";
import { openDispatchQueue } from "../src/queue/lanes/dispatch-queue.ts";
import { setReplicas } from "../src/streams/provision-streams.ts";
import { keepsReplicas } from "../src/streams/replication-support.ts";
import { openTable } from "../src/table/nats.ts";
import { NatsBench } from "./support/nats-bench.ts";

const never = new AbortController().signal;

test("a connection asks once whether JetStream is ready, for all of its streams and buckets", async () => {
  await using bench = await NatsBench.open();
  const { connection: observer } = await bench.connect();
  const requests: string[] = [];
  observer.subscribe("$JS.API.>", { callback: (_, { subject }) => void requests.push(subject) });
  await observer.flush();
  const nats = await bench.connect();
  await Promise.all([openRunLog(nats), openThreadLog(nats), openTable(nats, AgentSchema)]);
  await openTable(nats, AgentSchema);
  await openArtifactStore(nats, { maxBytes: 0 });
  // The server sends the observer the requests in order, so this is the last one.
  await vi.waitUntil(() => requests.includes("$JS.API.STREAM.INFO.KV_artifacts"), 10_000);
  expect(requests.filter((subject) => subject === "$JS.API.INFO")).toHaveLength(1);
  // The first time, the client asks again before it creates the bucket.
  expect(requests.filter((subject) => subject === "$JS.API.STREAM.INFO.KV_agents")).toHaveLength(3);
});

test("a stream is opened as soon as a lost server is back", async () => {
  await using bench = await NatsBench.open();
  const nats = await bench.connect();
  await openRunLog(nats);
  await bench.kill();
  const opening = openThreadLog(nats);
  await bench.restart();
  await expect(opening).resolves.toBeDefined();
});

describe("the settings of a stream", () => {
  let bench: NatsBench;

  beforeAll(async () => {
    bench = await NatsBench.open();
  });
  afterAll(() => bench[Symbol.asyncDispose]());

  test("are added to a stream that lacks them, which keeps its subjects", async () => {
    const nats = await bench.connect();
    const { streams } = await jetstreamManager(nats.connection);
    await openRunLog(nats);
    const { config } = await streams.info("RUNS");
    const subjects = [...config.subjects, "other.>"];
    await streams.update("RUNS", { description: "", allow_direct: false, subjects });
    await openRunLog(nats);
    const after = (await streams.info("RUNS")).config;
    expect(after).toEqual({ ...config, subjects });
  });

  test("of a newer version stay as they are when an older process starts", async () => {
    const nats = await bench.connect();
    const { streams } = await jetstreamManager(nats.connection);
    await openRunLog(nats);
    const { config } = await streams.info("RUNS");
    const newer = { description: "Reeve settings 2", subjects: [...config.subjects, "newer.>"] };
    await streams.update("RUNS", { ...newer, max_age: 1e15, discard: DiscardPolicy.Old });
    const { config: written } = await streams.info("RUNS");
    await openRunLog(nats);
    expect((await streams.info("RUNS")).config).toEqual(written);
  });

  test("of a newer version get only the subjects that an older process needs", async () => {
    const nats = await bench.connect();
    const { streams } = await jetstreamManager(nats.connection);
    const newer = { description: "Reeve settings 2", max_age: 1e15 };
    const retention = RetentionPolicy.Workqueue;
    await streams.add({ name: "DISPATCH", subjects: ["elsewhere.>"], retention, ...newer });
    await openDispatchQueue(nats, { ackWaitMs: 1_000 });
    const { config } = await streams.info("DISPATCH");
    expect(config).toMatchObject(newer);
    expect(config.subjects.toSorted()).toEqual([
      "dispatch.lane.*.*",
      "dispatch.run",
      "elsewhere.>",
    ]);
  });
});

const installed = findProgram("nats-server");
const version = installed === undefined ? "" : natsVersion(installed);

describe.skipIf(version === "" || keepsReplicas(version))(
  `three servers of version ${version}, which loses writes of replicated streams`,
  () => {
    let cluster: NatsCluster;

    beforeAll(async () => {
      cluster = await NatsCluster.start({ program: installed ?? "" });
    });
    afterAll(() => cluster[Symbol.asyncDispose]());

    const refusal = {
      kind: "precondition",
      message: expect.stringContaining(
        `version ${version}, which loses acknowledged writes`,
      ) as string,
    };

    test("are accepted for one replica, and refused for several by name", async () => {
      const nats = await cluster.connect();
      await openRunLog(nats);
      await setReplicas(nats, ["RUNS"], 1, never);
      await expect(setReplicas(nats, ["RUNS"], 3, never)).rejects.toMatchObject(refusal);
    });

    test("are refused by a service whose stream has several replicas", async () => {
      const nats = await cluster.connect();
      const { streams } = await jetstreamManager(nats.connection, { timeout: 10_000 });
      await streams.update("RUNS", { num_replicas: 3 });
      await expect(openRunLog(nats)).rejects.toMatchObject(refusal);
    });
  },
);
