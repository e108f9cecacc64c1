import { afterAll, beforeAll, expect, test } from "vitest";
import { jetstreamManager } from "@nats-io/jetstream";
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
