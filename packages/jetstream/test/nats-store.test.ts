import { create } from "@bufbuild/protobuf";
import { jetstreamManager } from "@nats-io/jetstream";
import { Kvm } from "@nats-io/kv";
import { Objm } from "@nats-io/obj";
import type { Agent } from "@reeve/contracts/agent";
import { AgentSchema, ModelCatalogSchema } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import { connectionStateOf } from "@reeve/platform/nats/connection-state";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ArtifactStore } from "../src/objects/artifact-store.ts";
import { openArtifactStore } from "../src/objects/nats-artifact-store.ts";
import { openTable } from "../src/table/nats.ts";
import type { Table, TableHistory } from "../src/table/port.ts";
import { artifactContract, chunks, draft, maxBytes, textOf } from "./support/artifact-contract.ts";
import { historyContract } from "./support/history/history-contract.ts";
import { listContract } from "./support/list-contract.ts";
import type { NatsUnderTest } from "./nats-under-test.ts";
import { startNatsUnderTest } from "./nats-under-test.ts";
import { tableContract } from "./support/table-contract.ts";

const never = new AbortController().signal;
const agent = (name: string): Agent => create(AgentSchema, { spec: { name } });
const bytesBucket = "artifacts-bytes";

let server: NatsUnderTest;
let table: Table<Agent> & TableHistory<Agent>;
let store: ArtifactStore;

beforeAll(async () => {
  server = await startNatsUnderTest();
  table = await openTable(server.nats, AgentSchema);
  store = await openArtifactStore(server.nats, { maxBytes });
});
afterAll(() => server[Symbol.asyncDispose]());

tableContract("NATS", () => table);
historyContract("NATS", () => table);
listContract("NATS", () => table);
artifactContract("NATS", () => store);

/** Returns how many messages the bytes of all artifacts have. */
async function storedMessages(): Promise<number> {
  const streams = (await jetstreamManager(server.nats.connection)).streams;
  return (await streams.info(`OBJ_${bytesBucket}`)).state.messages;
}

/** Deletes the bytes of an object, but not its name. */
async function purgeBytes(name: string): Promise<void> {
  const objects = await new Objm(server.nats.connection).create(bytesBucket);
  const info = await objects.info(name);
  const { streams } = await jetstreamManager(server.nats.connection);
  await streams.purge(`OBJ_${bytesBucket}`, { filter: `$O.${bytesBucket}.C.${info?.nuid}` });
}

describe("a table in NATS", () => {
  test("keeps as many versions as its contract declares", async () => {
    for (let version = 0; version < 70; version++) await table.put("t.a", agent("a"), never);
    const { streams } = await jetstreamManager(server.nats.connection);
    const subject = "$KV.agents.t.a";
    const { state } = await streams.info("KV_agents", { subjects_filter: subject });
    expect(state.subjects?.[subject]).toBe(64);
  });

  test("is listed completely while others overwrite what is being read", async () => {
    // The bucket keeps only the last version of a key, so an overwritten version is gone before a reader reaches it.
    const models = await openTable(server.nats, ModelCatalogSchema);
    const catalog = create(ModelCatalogSchema, { models: [{ id: "m" }] });
    for (let round = 0; round < 40; round++) {
      const keys = Array.from({ length: 9 }, (_, index) => `round-${round}.k${index}`);
      for (const key of keys) await models.put(key, catalog, never);
      const createAndDelete = async (key: string) => {
        await models.list(`round-${round}`, never);
        const row = await models.create(key, catalog, never);
        await models.list(`round-${round}`, never);
        await models.deleteVersion(key, row?.revision ?? 0, never);
      };
      await Promise.all(keys.map((key) => createAndDelete(`${key}-goes`)));
      const rows = await models.list(`round-${round}`, never);
      expect(rows.map(({ key }) => key)).toEqual(keys);
    }
  });

  test("is the same table for all that open it, even at the same time", async () => {
    const [one, two] = await Promise.all([
      openTable(server.nats, ModelCatalogSchema),
      openTable(server.nats, ModelCatalogSchema),
    ]);
    await one.put("d", create(ModelCatalogSchema, { models: [{ id: "m" }] }), never);
    expect((await two.get("d", never))?.record.models[0]?.id).toBe("m");
  });
});

describe("artifacts in NATS", () => {
  test("leave no bytes when they are rejected", async () => {
    const before = await storedMessages();
    const half = "x".repeat(maxBytes / 2);
    const tooMuch = store.put("t", draft("a"), chunks(half, half, "x"), never);
    await expect(tooMuch).rejects.toMatchObject({ reason: ErrorReason.TOO_LARGE });
    expect(await storedMessages()).toBe(before);
  });

  test("whose writer died before the description are completed by the next attempt", async () => {
    const descriptions = await new Kvm(server.nats.connection).create("artifacts");
    const first = await store.put("t", draft("a", "died"), chunks("whole"), never);
    await descriptions.purge(`t.${first.artifactId}`);
    expect(await store.get("t", first.artifactId, never)).toBeUndefined();
    const next = await store.put("t", draft("b", "died"), chunks("other"), never);
    expect(next).toEqual(first);
    expect(await textOf(store.read("t", first.artifactId, never))).toBe("whole");
  });

  test("that lost their bytes before the description are stored again", async () => {
    const descriptions = await new Kvm(server.nats.connection).create("artifacts");
    const first = await store.put("t", draft("a", "lost"), chunks("first"), never);
    await purgeBytes(`t/${first.artifactId}`);
    await expect(textOf(store.read("t", first.artifactId, never))).rejects.toMatchObject({
      kind: "internal",
    });
    await descriptions.purge(`t.${first.artifactId}`);
    const next = await store.put("t", draft("b", "lost"), chunks("second"), never);
    expect(next.artifactId).toBe(first.artifactId);
    expect(await textOf(store.read("t", next.artifactId, never))).toBe("second");
  });
});

/** Resolves when the connection has lost its server. */
async function lost({ nats }: NatsUnderTest): Promise<void> {
  const state = connectionStateOf(nats.connection);
  const { promise, resolve } = Promise.withResolvers<void>();
  const forget = state.onChange(() => resolve());
  if (state.isUp) await promise;
  forget();
}

describe("a store that", () => {
  test("is full reports it", async () => {
    await using small = await startNatsUnderTest();
    await new Kvm(small.nats.connection).create("agents", { max_bytes: 100_000 });
    await new Objm(small.nats.connection).create(bytesBucket, { max_bytes: 100_000 });
    const full = { kind: "exhausted", reason: ErrorReason.STORAGE_FULL };
    const agents = await openTable(small.nats, AgentSchema);
    const big = agent("x".repeat(150_000));
    await expect(agents.put("t.a", big, never)).rejects.toMatchObject(full);
    await expect(agents.create("t.a", big, never)).rejects.toMatchObject(full);
    const artifacts = await openArtifactStore(small.nats, { maxBytes });
    const file = chunks("x".repeat(50_000), "y".repeat(50_000), "z".repeat(50_000));
    await expect(artifacts.put("t", draft("a"), file, never)).rejects.toMatchObject(full);
    expect(await artifacts.list("t", never)).toEqual([]);
  });

  test("gets a record larger than a message rejects it", async () => {
    await expect(table.put("t.b", agent("x".repeat(1_100_000)), never)).rejects.toMatchObject({
      kind: "exhausted",
      reason: ErrorReason.TOO_LARGE,
    });
  });

  test("cannot be reached reports unavailable", async () => {
    await using other = await startNatsUnderTest();
    const agents = await openTable(other.nats, AgentSchema);
    const artifacts = await openArtifactStore(other.nats, { maxBytes });
    await other.nats.connection.close();
    const unavailable = { kind: "unavailable" };
    await expect(agents.get("t.a", never)).rejects.toMatchObject(unavailable);
    await expect(agents.put("t.a", agent("a"), never)).rejects.toMatchObject(unavailable);
    await expect(agents.list("", never)).rejects.toMatchObject(unavailable);
    const lost = artifacts.put("t", draft("a"), chunks("a"), never);
    await expect(lost).rejects.toMatchObject(unavailable);
  });

  test("is down makes readers wait for it, unless they abort", async () => {
    await using other = await startNatsUnderTest();
    const agents = await openTable(other.nats, AgentSchema);
    const artifacts = await openArtifactStore(other.nats, { maxBytes });
    await agents.put("t.a", agent("kept"), never);
    const { artifactId } = await artifacts.put("t", draft("a"), chunks("kept"), never);
    const reads: Promise<unknown>[] = [];
    await other.restart(async () => {
      await lost(other);
      reads.push(
        agents.get("t.a", never).then((row) => row?.record),
        agents.list("t", never).then((rows) => rows[0]?.record),
        textOf(artifacts.read("t", artifactId, never)),
      );
      const leaving = new AbortController();
      const left = agents.get("t.a", leaving.signal);
      leaving.abort(new Error("left"));
      await expect(left).rejects.toThrow("left");
    });
    expect(await Promise.all(reads)).toEqual([agent("kept"), agent("kept"), "kept"]);
  });

  test("restarts keeps its records, and its watchers continue", async () => {
    await using other = await startNatsUnderTest();
    const agents = await openTable(other.nats, AgentSchema);
    await agents.put("t.a", agent("before"), never);
    const stop = new AbortController();
    const changes = agents.watch("t", stop.signal)[Symbol.asyncIterator]();
    await changes.next();
    await changes.next();
    const waiting = changes.next();
    await other.restart();
    await using second = await connectNats(
      `nats://${other.nats.connection.getServer()}`,
      { name: "second", log: createLogger("test", "silent") },
      never,
    );
    const again = await openTable(second, AgentSchema);
    expect((await again.get("t.a", never))?.record).toEqual(agent("before"));
    await again.put("t.b", agent("after"), never);
    expect(await waiting).toMatchObject({
      value: { kind: "written", row: { key: "t.b", record: agent("after") } },
    });
    stop.abort();
    await changes.next().catch(() => undefined);
  });
});
