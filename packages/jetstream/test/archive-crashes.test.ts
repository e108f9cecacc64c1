import { afterAll, beforeAll, expect, test } from "vitest";
import { jetstreamManager } from "@nats-io/jetstream";
import type { PublishOptions } from "@nats-io/transport-node";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { eraseOrphans } from "../src/log/archive/erase-orphans.ts";
import { openArchiver } from "../src/log/archive/archiver.ts";
import { openRunLog } from "../src/log/open.ts";
import { emptyTail } from "../src/log/port.ts";
import type { RunKey } from "../src/log/run-log.ts";
import { openRunCatalog } from "../src/projection/nats-catalog.ts";
import { appendEvents, freshRun, texts, wordsOf } from "./support/facts.ts";
import { NatsBench } from "./support/nats-bench.ts";

const signal = new AbortController().signal;
let bench: NatsBench;
let nats: Nats;
let log: Awaited<ReturnType<typeof openRunLog>>;

beforeAll(async () => {
  bench = await NatsBench.open();
  nats = await bench.connect();
  const archiver = await openArchiver(nats);
  const first = await openRunLog(nats);
  const key = freshRun();
  await appendEvents(first, key, emptyTail, texts(emptyTail, "a", "b"), signal);
  await archiver.archive(key, signal);
  log = await openRunLog(await bench.connect());
});

afterAll(() => bench[Symbol.asyncDispose]());

async function written(): Promise<RunKey> {
  const key = freshRun();
  let tail = emptyTail;
  for (const word of ["a", "b", "c"]) {
    tail = await appendEvents(log, key, tail, texts(tail, word), signal);
  }
  return key;
}

async function partsOfArchive(): Promise<number> {
  const { streams } = await jetstreamManager(nats.connection);
  const { state } = await streams.info("ARCHIVE", { subjects_filter: "archive.part" });
  return state.subjects?.["archive.part"] ?? 0;
}

function isChange(subject: string): boolean {
  return /^(archive|run)\.|STREAM\.PURGE|STREAM\.MSG\.DELETE/.test(subject);
}

/** Returns a connection that loses its process at the n-th request that changes the store: none follows. */
function dyingAt(nth: number, connection: Nats["connection"]): Nats["connection"] {
  let changes = 0;
  return new Proxy(connection, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return (...given: unknown[]) => {
        const [subject] = given;
        if (name === "publish" || name === "request") {
          if (typeof subject === "string" && isChange(subject) && ++changes >= nth) {
            throw new Error("the process died");
          }
        }
        return Reflect.apply(value, target, given);
      };
    },
  });
}

test("an archiver that dies at any step leaves a whole log, which the next one archives once", async () => {
  const words = ["1 a", "2 b", "3 c"];
  const archiver = await openArchiver(nats, { graceMs: 0 });
  const parts = await partsOfArchive();
  const keys: RunKey[] = [];
  for (let isDead = true; isDead;) {
    const key = await written();
    keys.push(key);
    const own = await bench.connect();
    const dying = { connection: dyingAt(keys.length, own.connection) };
    isDead = await openArchiver(dying, { graceMs: 0 })
      .then((each) => each.archive(key, signal))
      .then(
        () => false,
        () => true,
      );
    await own.connection.close();
    expect(wordsOf((await log.read(key, emptyTail, signal)).events)).toEqual(words);
    expect(["archived", "nothing"]).toContain(await archiver.archive(key, signal));
    expect(wordsOf((await log.read(key, emptyTail, signal)).events)).toEqual(words);
  }
  expect(keys.length).toBeGreaterThan(4);
  await eraseOrphans(nats, signal, { firstLookMs: 0 });
  expect(await partsOfArchive()).toBe(parts + keys.length);
  for (const key of keys) {
    expect(wordsOf((await log.read(key, emptyTail, signal)).events)).toEqual(words);
  }
});

test("a removal that dies after the archive was erased is completed by the next one", async () => {
  const key = await written();
  const archiver = await openArchiver(nats, { graceMs: 0 });
  await archiver.archive(key, signal);
  const own = await bench.connect();
  const dying = await openRunLog({ connection: dyingAt(2, own.connection) }, { maxRetryMs: 10 });
  await dying.removeThrough(key, -1_000_000, signal).catch(() => undefined);
  await own.connection.close();
  await expect(log.read(key, emptyTail, signal)).rejects.toMatchObject({ kind: "data_loss" });
  const [left] = await Array.fromAsync(log.readBatches(key, signal));
  expect(left?.first).toBe(3);
  await log.removeThrough(key, left?.revision ?? 0, signal);
  expect((await log.read(key, emptyTail, signal)).events).toEqual([]);
});

test("what an archiver has stored of a log that was deleted is erased", async () => {
  const key = await written();
  const parts = await partsOfArchive();
  const own = await bench.connect();
  const archiver = await openArchiver({ connection: dyingAt(2, own.connection) });
  await archiver.archive(key, signal).catch(() => undefined);
  await own.connection.close();
  expect(await partsOfArchive()).toBe(parts + 1);
  await log.remove(key, signal);
  expect(await eraseOrphans(nats, signal, { firstLookMs: 0 })).toBe(1);
  expect(await partsOfArchive()).toBe(parts);
});

test("the catalog of runs has archived ones", async () => {
  const key = await written();
  const archiver = await openArchiver(nats, { graceMs: 0 });
  await archiver.archive(key, signal);
  const catalog = await openRunCatalog(nats);
  const ends = await Array.fromAsync(catalog.ends(signal));
  expect(ends).toContainEqual({ key, sequence: 3, kinds: ["text"] });
});

/** Returns a connection that performs a step, once, before it sends a request to a subject that matches. The step gets its arguments. */
function pausedBefore(
  pattern: RegExp,
  step: (subject: string, data: Uint8Array, options: PublishOptions) => Promise<unknown>,
  connection: Nats["connection"],
): Nats["connection"] {
  let isDone = false;
  return new Proxy(connection, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      const call = (given: unknown[]): unknown => Reflect.apply(value, target, given);
      if (name !== "publish") return (...given: unknown[]) => call(given);
      return (...given: [string, Uint8Array, PublishOptions]) => {
        if (isDone || !pattern.test(given[0])) return call(given);
        isDone = true;
        void step(...given).then(() => call(given));
        return undefined;
      };
    },
  });
}

test("a log that another archiver completes meanwhile stays in the index", async () => {
  const key = await written();
  await (await openArchiver(nats)).archive(key, signal);
  const complete = await openArchiver(nats, { graceMs: 0 });
  const own = await bench.connect();
  const step = () => complete.archive(key, signal);
  // It has read the marker, and not yet the index.
  const paused = pausedBefore(/STREAM\.MSG\.GET\.ARCHIVE/, step, own.connection);
  const slow = await openArchiver({ connection: paused }, { graceMs: 0 });
  expect(await slow.archive(key, signal)).toBe("archived");
  expect(wordsOf((await log.read(key, emptyTail, signal)).events)).toEqual(["1 a", "2 b", "3 c"]);
});

test("a log that is deleted while it is archived leaves nothing in the index", async () => {
  const key = await written();
  const parts = await partsOfArchive();
  const { tail } = await log.last(key, signal);
  const own = await bench.connect();
  const step = () => log.removeThrough(key, tail.revision, signal);
  // Its marker is stored, and the index does not name it.
  const paused = pausedBefore(/^archive\.page/, step, own.connection);
  expect(await (await openArchiver({ connection: paused })).archive(key, signal)).toBe("changed");
  expect((await log.read(key, emptyTail, signal)).events).toEqual([]);
  expect(await partsOfArchive()).toBe(parts);
  await appendEvents(log, key, emptyTail, texts(emptyTail, "anew"), signal);
});

test("a marker that the store keeps although it refuses it names a whole archive", async () => {
  const key = await written();
  const own = await bench.connect();
  const step = async (subject: string, data: Uint8Array, { headers }: PublishOptions) => {
    own.connection.publish(subject, data, { ...(headers && { headers }) });
    const end = async () => (await log.last(key, signal)).tail.revision;
    await expect.poll(end).toBeLessThan(0);
    const { tail } = await log.last(key, signal);
    await appendEvents(log, key, tail, texts(tail, "late"), signal);
  };
  const paused = pausedBefore(/^run\./, step, own.connection);
  await (await openArchiver({ connection: paused })).archive(key, signal);
  await (await openArchiver(nats)).archive(key, signal);
  const { events } = await log.read(key, emptyTail, signal);
  expect(wordsOf(events)).toEqual(["1 a", "2 b", "3 c", "4 late"]);
});

test("nothing is removed from a log whose archive lacks something", async () => {
  const key = await written();
  const own = await bench.connect();
  const { streams } = await jetstreamManager(nats.connection);
  const step = () => streams.purge("ARCHIVE", { filter: "archive.part" });
  // Its marker is stored.
  const paused = pausedBefore(/^archive\.page/, step, own.connection);
  const archiver = await openArchiver({ connection: paused });
  await expect(archiver.archive(key, signal)).rejects.toMatchObject({ kind: "data_loss" });
  expect(await Array.fromAsync(log.readBatches(key, signal))).toHaveLength(3);
});
