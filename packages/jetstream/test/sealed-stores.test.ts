import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import type { Agent } from "@reeve/contracts/agent";
import { AgentSchema } from "@reeve/contracts/agent";
import { batchDigest } from "@reeve/contracts/digest/batch-digest";
import { RunBatchSchema } from "@reeve/contracts/run";
import { TenantDataKeySchema } from "@reeve/contracts/sealing";
import { ErrorReason } from "@reeve/contracts/error";
import { ToolCallRequestSchema } from "@reeve/contracts/tool";
import { systemClock } from "@reeve/platform/async/clock";
import { createLogger } from "@reeve/platform/telemetry/logger";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { jetstreamManager } from "@nats-io/jetstream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openRunFeed } from "../src/feed/nats.ts";
import { openArchiver } from "../src/log/archive/archiver.ts";
import { openRunLog } from "../src/log/open.ts";
import { emptyTail } from "../src/log/port.ts";
import type { ArtifactStore } from "../src/objects/artifact-store.ts";
import { openArtifactStore } from "../src/objects/nats-artifact-store.ts";
import { openObjects } from "../src/objects/nats.ts";
import { openToolCallQueue } from "../src/queue/nats.ts";
import { DataKeys } from "../src/sealing/data-keys.ts";
import { MemoryKeyStore } from "../src/sealing/memory-key-store.ts";
import { payloadCipher, sealPayloads } from "../src/sealing/payload-cipher.ts";
import { openTable } from "../src/table/nats.ts";
import type { Table } from "../src/table/port.ts";
import { artifactContract, chunks, draft, maxBytes, textOf } from "./support/artifact-contract.ts";
import { externalAppendContract } from "./support/external-append-contract.ts";
import { appendEvents, freshRun, runLogKind, texts, wordsOf } from "./support/facts.ts";
import { feedContract } from "./support/feed-contract.ts";
import { logContract } from "./support/log-contract.ts";
import { NatsBench } from "./support/nats-bench.ts";
import { partsContract } from "./support/parts-contract.ts";
import { tableContract } from "./support/table-contract.ts";

const signal = new AbortController().signal;
const silent = createLogger("test", "silent");
const keyStore = new MemoryKeyStore();
const resources = new AsyncDisposableStack();
let bench: NatsBench;
let log: Awaited<ReturnType<typeof openRunLog>>;
let other: typeof log;
let table: Table<Agent>;
let store: ArtifactStore;

/** Connects a process that has the keys of the tenants. */
async function connectWithKeys(): Promise<Nats> {
  const nats = await bench.connect();
  const rows = await openTable(nats, TenantDataKeySchema);
  const keys = new DataKeys({ rows, keyStore, clock: systemClock, mayCreate: true, log: silent });
  sealPayloads(nats.connection, payloadCipher(keys, silent));
  return nats;
}

beforeAll(async () => {
  bench = resources.use(await NatsBench.open(signal));
  const [first, second] = [await connectWithKeys(), await connectWithKeys()];
  log = await openRunLog(first);
  other = await openRunLog(second);
  table = await openTable(first, AgentSchema);
  store = await openArtifactStore(first, { maxBytes });
});

afterAll(() => resources.disposeAsync());

// Each batch and each row is sealed by itself, so less of them shows the same. The stores without keys have more.
logContract("of a run, sealed", runLogKind, () => [log, other], 200);
partsContract("sealed", runLogKind, () => log);
externalAppendContract("sealed", () => [log, other], 5);
tableContract("sealed", () => table, 5);
artifactContract("sealed", () => store);
feedContract("of sealed logs", async () => {
  const nats = await connectWithKeys();
  await (await jetstreamManager(nats.connection)).streams.delete("RUNS").catch(() => undefined);
  return { log: await openRunLog(nats), feed: await openRunFeed(nats, { ackWaitMs: 300 }) };
});

/** Returns the bytes of all files of the server. */
function stored(): Buffer {
  const files = readdirSync(bench.storeDir, { recursive: true, withFileTypes: true });
  return Buffer.concat(
    files
      .filter((file) => file.isFile())
      .map((file) => readFileSync(join(file.parentPath, file.name))),
  );
}

test("an archived log stays sealed with the key of its tenant", async () => {
  const key = freshRun();
  const first = await appendEvents(log, key, emptyTail, texts(emptyTail, "a"), signal);
  await appendEvents(log, key, first, texts(first, "b"), signal);
  const archiver = await openArchiver(await bench.connect());
  expect(await archiver.archive(key, signal)).toBe("closed");
  expect(wordsOf((await other.read(key, emptyTail, signal)).events)).toEqual(["1 a", "2 b"]);
  const withoutKeys = await openRunLog(await bench.connect(), { maxRetryMs: 10 });
  await expect(withoutKeys.read(key, emptyTail, signal)).rejects.toMatchObject({
    kind: "precondition",
  });
});

test("no file of the server has what was stored, and everything can be read", async () => {
  const nats = await connectWithKeys();
  const canary = "canary-of-the-sealed-stores";
  const key = freshRun();
  const runs = await openRunLog(nats);
  await appendEvents(runs, key, emptyTail, texts(emptyTail, `${canary}-run`), signal);
  const objects = await openObjects(nats, { bucket: "snapshots", maxBytes });
  const { name } = await objects.write(`${key.tenant}/w1`, chunks(`${canary}-files`), signal);
  const artifact = await store.put(
    key.tenant,
    draft(`${canary}-name`),
    chunks(`${canary}-bytes`),
    signal,
  );
  const agentKey = `${key.tenant}.${canary.length}`;
  await table.put(agentKey, create(AgentSchema, { spec: { name: `${canary}-spec` } }), signal);
  const queue = await openToolCallQueue(nats, { pool: "p", ackWaitMs: 1_000, isConsumer: true });
  const call = { name: `${canary}-call` };
  const request = create(ToolCallRequestSchema, { tenant: key.tenant, runId: key.run, call });
  await queue.publish(request, { dedupeId: "one" }, signal);

  const bytes = stored();
  expect(bytes.includes(key.run)).toBe(true);
  expect(bytes.includes(canary)).toBe(false);

  expect(wordsOf((await runs.read(key, emptyTail, signal)).events)).toEqual([`1 ${canary}-run`]);
  const files = await objects.read(name, signal);
  expect(files && (await textOf(files))).toBe(`${canary}-files`);
  expect(await store.get(key.tenant, artifact.artifactId, signal)).toMatchObject({
    name: `${canary}-name`,
    sizeBytes: canary.length + 6,
  });
  expect(await textOf(store.read(key.tenant, artifact.artifactId, signal))).toBe(`${canary}-bytes`);
  expect((await table.get(agentKey, signal))?.record.spec?.name).toBe(`${canary}-spec`);
  for await (const delivery of queue.take(1, signal)) {
    expect(delivery.message.call?.name).toBe(`${canary}-call`);
    delivery.acknowledge();
    break;
  }
});

test("the digest of a batch is that of its content, which a guess does not have", async () => {
  const key = freshRun();
  const events = texts(emptyTail, "yes");
  await appendEvents(log, key, emptyTail, events, signal);
  const [batch] = await Array.fromAsync(log.readBatches(key, signal));
  const subject = `run.${key.tenant}.${key.run}.log`;
  expect(batchDigest(subject, batch?.data ?? new Uint8Array())).toBe(batch?.digest);
  const guess = create(RunBatchSchema, { firstSequence: 1, events: [...events] });
  expect(batchDigest(subject, toBinary(RunBatchSchema, guess))).not.toBe(batch?.digest);
});

test("a taker without keys returns a sealed message to its queue", async () => {
  const options = { pool: "q", ackWaitMs: 1_000, isConsumer: true };
  const sealed = await openToolCallQueue(await connectWithKeys(), options);
  const plain = await openToolCallQueue(await bench.connect(), options);
  const request = create(ToolCallRequestSchema, { tenant: "acme", call: { name: "sealed" } });
  await sealed.publish(request, { dedupeId: "returned" }, signal);
  await plain.publish(request, { dedupeId: "plain" }, signal);
  for await (const delivery of plain.take(2, signal)) {
    delivery.acknowledge();
    break;
  }
  for await (const delivery of sealed.take(1, signal)) {
    expect(delivery.message.call?.name).toBe("sealed");
    delivery.acknowledge();
    break;
  }
});

describe("what was stored before there were keys", () => {
  test("stays readable, and is continued sealed", async () => {
    const plain = await openRunLog(await bench.connect());
    const key = freshRun();
    const before = await appendEvents(plain, key, emptyTail, texts(emptyTail, "old"), signal);
    await appendEvents(log, key, before, texts(before, "new"), signal);
    expect(wordsOf((await log.read(key, emptyTail, signal)).events)).toEqual(["1 old", "2 new"]);
    await expect(plain.read(key, emptyTail, signal)).rejects.toMatchObject({
      kind: "precondition",
      message: /set REEVE_ENCRYPTION_KEYS/,
    });
  });
});

describe("a tenant whose key was deleted", () => {
  const deleted = { kind: "precondition", reason: ErrorReason.TENANT_KEY_DELETED };

  test("has nothing that can be read or stored, and others have everything", async () => {
    const [gone, kept] = [freshRun(), freshRun()];
    for (const key of [
      { ...gone, tenant: "gone" },
      { ...kept, tenant: "kept" },
    ]) {
      await appendEvents(log, key, emptyTail, texts(emptyTail, "a"), signal);
      await table.put(`${key.tenant}.a`, create(AgentSchema, { spec: { name: "a" } }), signal);
    }
    const artifact = await store.put("gone", draft("a"), chunks("a"), signal);
    await keyStore.delete("gone", signal);
    const later = await connectWithKeys();
    const [runs, agents] = [await openRunLog(later), await openTable(later, AgentSchema)];
    const artifacts = await openArtifactStore(later, { maxBytes });
    const key = { ...gone, tenant: "gone" };
    const freshKey = { ...freshRun(), tenant: "gone" };
    await expect(runs.read(key, emptyTail, signal)).rejects.toMatchObject(deleted);
    await expect(runs.last(key, signal)).rejects.toMatchObject(deleted);
    const append = runs.append(freshKey, emptyTail, texts(emptyTail, "b"), signal);
    await expect(append).rejects.toMatchObject(deleted);
    await expect(agents.get("gone.a", signal)).rejects.toMatchObject(deleted);
    await expect(agents.list("gone", signal)).rejects.toMatchObject(deleted);
    await expect(artifacts.get("gone", artifact.artifactId, signal)).rejects.toMatchObject(deleted);
    const all = (await agents.list("", signal)).map((row) => row.key);
    expect(all).toContain("kept.a");
    expect(all).not.toContain("gone.a");
    const other = { ...kept, tenant: "kept" };
    expect(wordsOf((await runs.read(other, emptyTail, signal)).events)).toEqual(["1 a"]);
  });
});
