import { jetstreamManager } from "@nats-io/jetstream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openRunFeed } from "../src/feed/nats.ts";
import { openPositionedRunFeed } from "../src/feed/positioned/nats.ts";
import { openArchiver } from "../src/log/archive/archiver.ts";
import type { LogArchiver } from "../src/log/archive/port.ts";
import { openRunLog } from "../src/log/open.ts";
import type { Tail } from "../src/log/port.ts";
import { emptyTail } from "../src/log/port.ts";
import type { RunKey } from "../src/log/run-log.ts";
import { archivedView } from "./support/history/archived-view.ts";
import {
  appendEvents,
  followUntil,
  freshRun,
  range,
  runLogKind,
  texts,
  wordsOf,
} from "./support/facts.ts";
import { logContract } from "./support/log-contract.ts";
import { partsContract } from "./support/parts-contract.ts";
import { NatsBench } from "./support/nats-bench.ts";

const signal = new AbortController().signal;
let bench: NatsBench;
let log: Awaited<ReturnType<typeof openRunLog>>;
let other: typeof log;
let closing: LogArchiver<RunKey>;
let whole: LogArchiver<RunKey>;

beforeAll(async () => {
  bench = await NatsBench.open();
  const nats = await bench.connect();
  closing = await openArchiver(nats);
  whole = await openArchiver(nats, { graceMs: 0 });
  // Processes that start before the first archive need not know of it for an hour, so these start after it.
  const first = await openRunLog(nats);
  const key = freshRun();
  await appendEvents(first, key, emptyTail, texts(emptyTail, "a", "b"), signal);
  await whole.archive(key, signal);
  const options = { tailCheckMs: 50 };
  log = await openRunLog(await bench.connect(), options);
  other = await openRunLog(await bench.connect(), options);
});

afterAll(() => bench[Symbol.asyncDispose]());

const views = () => [archivedView(log, whole, 1), archivedView(other, whole, 1)] as const;
logContract("of a run, archived after its first append", runLogKind, views, 20);
partsContract("archived after its first append", runLogKind, () => views()[0]);

async function written(batches: number, size = 10): Promise<{ key: RunKey; tails: Tail[] }> {
  const key = freshRun();
  const tails = [emptyTail];
  for (const index of range(1, batches)) {
    const tail = tails.at(-1) ?? emptyTail;
    const words = texts(tail, `${index}`.repeat(size), "more");
    tails.push(await appendEvents(log, key, tail, words, signal));
  }
  return { key, tails };
}

async function messagesOf({ tenant, run }: RunKey): Promise<number> {
  const { streams } = await jetstreamManager((await bench.connect()).connection);
  const subject = `run.${tenant}.${run}.log`;
  const { state } = await streams.info("RUNS", { subjects_filter: subject });
  return state.subjects?.[subject] ?? 0;
}

async function partsOfArchive(): Promise<number> {
  const { streams } = await jetstreamManager((await bench.connect()).connection);
  const { state } = await streams.info("ARCHIVE", { subjects_filter: "archive.part" });
  return state.subjects?.["archive.part"] ?? 0;
}

describe.each([
  ["closed", () => closing, 1],
  ["archived", () => whole, 0],
] as const)("a log that is %s", (outcome, archiver, left) => {
  test.each([1, 3, 40])("of %i batches reads as before", async (batches) => {
    const { key, tails } = await written(batches);
    const before = await other.read(key, emptyTail, signal);
    const raw = await Array.fromAsync(other.readBatches(key, signal));
    expect(await archiver().archive(key, signal)).toBe(outcome);
    expect(await messagesOf(key)).toBe(left);
    const after = await other.read(key, emptyTail, signal);
    expect(after.events).toEqual(before.events);
    expect(after.tail).toMatchObject({ sequence: 2 * batches, digest: before.tail.digest });
    expect(after.batchTails.at(-1)).toEqual(after.tail);
    expect(after.batchTails.slice(0, -1)).toEqual(before.batchTails.slice(0, -1));
    expect(await Array.fromAsync(other.readBatches(key, signal))).toEqual(raw);
    expect((await other.last(key, signal)).events).toEqual(before.events.slice(-2));
    expect((await other.last(key, signal)).tail).toEqual(after.tail);
    for (const tail of tails) {
      const rest = await other.read(key, tail, signal);
      expect(rest.events).toEqual(before.events.slice(tail.sequence));
      expect(rest.tail).toEqual(after.tail);
    }
    for (const from of [0, 1, 2 * batches - 1]) {
      const followed = await followUntil(other.follow(key, from, signal), 2 * batches);
      expect(followed).toEqual(before.events.slice(from));
    }
  });

  test("takes further facts, once each, also from a writer that read it before", async () => {
    const { key, tails } = await written(3);
    const stale = tails.at(-1) ?? emptyTail;
    await archiver().archive(key, signal);
    expect(await other.append(key, stale, texts(stale, "stale"), signal)).toEqual({
      kind: "conflict",
    });
    const { tail } = await other.read(key, stale, signal);
    const races = await Promise.all(
      [log, other].map((each) => each.append(key, tail, texts(tail, "late"), signal)),
    );
    expect(races.map(({ kind }) => kind).toSorted()).toEqual(["appended", "conflict"]);
    const { events, tail: end } = await log.read(key, tail, signal);
    expect(wordsOf(events)).toEqual(["7 late"]);
    await appendEvents(log, key, end, texts(end, "later"), signal);
    expect(await archiver().archive(key, signal)).not.toBe("changed");
    expect(wordsOf((await other.read(key, emptyTail, signal)).events).slice(5)).toEqual([
      "6 more",
      "7 late",
      "8 later",
    ]);
    expect((await other.last(key, signal)).tail.sequence).toBe(8);
    const followed = await followUntil(other.follow(key, 5, signal), 8);
    expect(followed.map(({ sequence }) => sequence)).toEqual([6, 7, 8]);
  });

  test("cannot be created again until it is removed, and leaves nothing then", async () => {
    const { key } = await written(3);
    const parts = await partsOfArchive();
    await archiver().archive(key, signal);
    expect(await partsOfArchive()).toBe(parts + 1);
    expect(await other.append(key, emptyTail, texts(emptyTail, "again"), signal)).toEqual({
      kind: "conflict",
    });
    const { tail } = await other.last(key, signal);
    await log.removeThrough(key, tail.revision, signal);
    expect(await partsOfArchive()).toBe(parts);
    expect((await other.read(key, emptyTail, signal)).events).toEqual([]);
    expect(await other.append(key, tail, texts(tail, "late"), signal)).toEqual({
      kind: "conflict",
    });
    const anew = await appendEvents(other, key, emptyTail, texts(emptyTail, "anew"), signal);
    await log.removeThrough(key, tail.revision, signal);
    expect(wordsOf((await other.read(key, emptyTail, signal)).events)).toEqual(["1 anew"]);
    await log.removeThrough(key, anew.revision, signal);
  });

  test("goes with a removal that read it before it was archived", async () => {
    const { key, tails } = await written(3);
    await archiver().archive(key, signal);
    await log.removeThrough(key, tails.at(-1)?.revision ?? 0, signal);
    expect(await messagesOf(key)).toBe(0);
    expect(await other.last(key, signal)).toMatchObject({ tail: emptyTail });
  });

  test("of several segments is read in parts, and continued by its followers", async () => {
    const { key } = await written(12, 60_000);
    const { events } = await other.read(key, emptyTail, signal);
    const rest = followUntil(other.follow(key, 7, signal), 25);
    await archiver().archive(key, signal);
    const parts = [];
    for (let tail = emptyTail; ;) {
      const part = await other.readPart(key, tail, 100_000, signal);
      parts.push(part);
      ({ tail } = part);
      if (part.isComplete) break;
    }
    expect(parts.length).toBeGreaterThan(3);
    expect(parts.flatMap((part) => part.events)).toEqual(events);
    const { tail } = await log.last(key, signal);
    await appendEvents(log, key, tail, texts(tail, "late"), signal);
    expect((await rest).map(({ sequence }) => sequence)).toEqual(range(8, 25));
  });
});

test("two archivers store a log once", async () => {
  const { key } = await written(3);
  const parts = await partsOfArchive();
  const second = await openArchiver(await bench.connect(), { graceMs: 0 });
  await Promise.all([whole, second].map((each) => each.archive(key, signal)));
  expect(await whole.archive(key, signal)).not.toBe("changed");
  expect(await partsOfArchive()).toBe(parts + 1);
  expect((await other.read(key, emptyTail, signal)).events).toHaveLength(6);
});

test.each([
  ["shares its work", openRunFeed],
  ["stores its position", openPositionedRunFeed],
])("a feed that %s has no markers, also if it accepts unknown kinds", async (_, open) => {
  const nats = await bench.connect();
  const { key } = await written(2);
  await closing.archive(key, signal);
  const { key: next } = await written(1);
  const feed = await open(nats);
  const cases = new Set<string | undefined>();
  for await (const batch of feed.consume("any-kind", { has: () => true }, signal)) {
    for (const { event } of batch.events) cases.add(event.case);
    batch.acknowledge();
    if (batch.key.run === next.run) break;
  }
  expect([...cases]).toEqual(["text"]);
});
