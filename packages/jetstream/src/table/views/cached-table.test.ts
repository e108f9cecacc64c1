import { setImmediate as macrotask } from "node:timers/promises";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { describe, expect, onTestFinished, test } from "vitest";
import type { OtherWriters } from "./cached-table.ts";
import { cachedTable } from "./cached-table.ts";
import { MemoryTable } from "../memory.ts";

interface Note {
  readonly text: string;
}

const never = new AbortController().signal;
const log = createLogger("test", "silent");
const key = "acme.a";
const bytesOf = ({ text }: Note) => text.length;

/** A table with one note, whose reads are counted and can be held. */
async function openNotes(
  limits: {
    maxRows?: number;
    maxBytes?: number;
    maxRowBytes?: number;
    writers?: OtherWriters;
  } = {},
) {
  const stored = new MemoryTable<Note>();
  const reads: string[] = [];
  const gate: { open?: Promise<void> } = {};
  const counted = Object.assign(Object.create(stored) as MemoryTable<Note>, {
    get: async (...given: Parameters<MemoryTable<Note>["get"]>) => {
      reads.push(given[0]);
      const row = await stored.get(...given);
      await gate.open;
      return row;
    },
    position: () => stored.position(never),
    changesAfter: (...given: Parameters<MemoryTable<Note>["changesAfter"]>) =>
      stored.changesAfter(...given),
    create: (...given: Parameters<MemoryTable<Note>["create"]>) => stored.create(...given),
    update: (...given: Parameters<MemoryTable<Note>["update"]>) => stored.update(...given),
    put: (...given: Parameters<MemoryTable<Note>["put"]>) => stored.put(...given),
    delete: (...given: Parameters<MemoryTable<Note>["delete"]>) => stored.delete(...given),
  });
  await stored.put(key, { text: "one" }, never);
  const { table, follow } = cachedTable(counted, { log, bytesOf, ...limits });
  const text = async (of = key) => (await table.get(of, never))?.record.text;
  const following = async () => {
    const end = new AbortController();
    const done = follow(end.signal);
    const stop = async () => {
      end.abort(new DOMException("ended", "AbortError"));
      await done;
    };
    onTestFinished(stop);
    // A row is kept from the moment on at which changes are followed.
    await expect.poll(() => isKept()).toBe(true);
    reads.length = 0;
    return stop;
  };
  const isKept = async () => {
    await text();
    const before = reads.length;
    await text();
    return reads.length === before;
  };
  return { stored, table, reads, gate, text, following };
}

describe("a table that this process alone writes", () => {
  test("is read once for each row", async () => {
    const { reads, text, following } = await openNotes();
    await following();
    for (let count = 0; count < 3; count++) expect(await text()).toBe("one");
    expect(reads).toEqual([]);
  });

  test("shows at once what this process writes and deletes", async () => {
    const { table, text, following } = await openNotes();
    await following();
    const row = await table.get(key, never);
    await table.update(key, { text: "two" }, row?.revision ?? 0, never);
    expect(await text()).toBe("two");
    await table.delete(key, never);
    expect(await text()).toBeUndefined();
    await table.put(key, { text: "three" }, never);
    expect(await text()).toBe("three");
  });

  test("does not remember a read that overlaps with a write", async () => {
    const { table, gate, text, following } = await openNotes();
    await following();
    await table.put(key, { text: "two" }, never);
    const answered = Promise.withResolvers<void>();
    gate.open = answered.promise;
    const reading = text();
    await table.put(key, { text: "three" }, never);
    // The change has arrived by then, so that nothing forgets the row later.
    await macrotask();
    answered.resolve();
    await reading;
    expect(await text()).toBe("three");
  });

  test("shows what another process writes, a moment later", async () => {
    const { stored, text, following } = await openNotes();
    await following();
    await stored.put(key, { text: "theirs" }, never);
    await expect.poll(() => text()).toBe("theirs");
  });

  test("is read each time while changes are not followed", async () => {
    const { reads, text, following } = await openNotes();
    await text();
    await text();
    expect(reads).toHaveLength(2);
    const stop = await following();
    await stop();
    await text();
    await text();
    expect(reads).toHaveLength(2);
  });

  test("keeps the rows that were read last", async () => {
    const { stored, reads, text, following } = await openNotes({ maxRows: 1 });
    await following();
    await stored.put("acme.b", { text: "other" }, never);
    await text("acme.b");
    await text("acme.b");
    await text();
    expect(reads.slice(-2)).toEqual(["acme.b", key]);
  });

  test("keeps a row that is read again and again, whenever it was first read", async () => {
    const { stored, reads, text, following } = await openNotes({ maxRows: 2 });
    await following();
    for (const other of ["acme.b", "acme.c", "acme.d"]) {
      await stored.put(other, { text: "other" }, never);
      await text(other);
      await text();
    }
    expect(reads).toEqual(["acme.b", "acme.c", "acme.d"]);
  });

  test("keeps no more than its limit of bytes", async () => {
    const { stored, reads, text, following } = await openNotes({ maxBytes: 10 });
    const others = ["acme.b", "acme.c"];
    for (const other of others) await stored.put(other, { text: "6 long" }, never);
    await following();
    for (const each of [...others, "acme.c", "acme.b"]) await text(each);
    expect(reads).toEqual(["acme.b", "acme.c", "acme.b"]);
  });

  test("does not keep a row that is too large, and keeps the others", async () => {
    const { stored, reads, text, following } = await openNotes({ maxRowBytes: 4 });
    await stored.put("acme.b", { text: "large" }, never);
    await following();
    for (const each of ["acme.b", key, "acme.b"]) await text(each);
    expect(reads).toEqual(["acme.b", "acme.b"]);
  });
});

function openShared() {
  const others = { period: 1 as number | undefined, sole: Promise.resolve() };
  const writers = { solePeriod: () => others.period, untilNoOtherIsSole: () => others.sole };
  return { others, opened: openNotes({ writers }) };
}

describe("a table that other processes may write", () => {
  test("is read each time while another one may write", async () => {
    const { others, opened } = openShared();
    const { reads, text, following } = await opened;
    await following();
    others.period = undefined;
    await text();
    await text();
    expect(reads).toHaveLength(2);
  });

  test("is read again in another time in which this process is alone", async () => {
    const { others, opened } = openShared();
    const { reads, text, following } = await opened;
    await following();
    others.period = 2;
    await text();
    await text();
    expect(reads).toHaveLength(1);
  });

  test("does not remember a read from before such a time", async () => {
    const { others, opened } = openShared();
    const { reads, gate, text, following } = await opened;
    await following();
    others.period = undefined;
    const answered = Promise.withResolvers<void>();
    gate.open = answered.promise;
    const reading = text();
    others.period = 2;
    answered.resolve();
    await reading;
    await text();
    expect(reads).toHaveLength(2);
  });

  test("is changed when no other process relies on being alone, and gets a new row at once", async () => {
    const { others, opened } = openShared();
    const { table, text } = await opened;
    const free = Promise.withResolvers<void>();
    others.sole = free.promise;
    const writing = table.put(key, { text: "two" }, never);
    await table.create("acme.b", { text: "new" }, never);
    expect(await text("acme.b")).toBe("new");
    expect(await text()).toBe("one");
    free.resolve();
    await writing;
    expect(await text()).toBe("two");
  });

  test("has changed when no process relies on what was there before the change", async () => {
    const { others, opened } = openShared();
    const { table, text } = await opened;
    const free = Promise.withResolvers<void>();
    let waits = 0;
    Object.defineProperty(others, "sole", {
      get: () => (++waits === 1 ? Promise.resolve() : free.promise),
    });
    let hasReturned = false;
    const writing = table.put(key, { text: "two" }, never).then(() => (hasReturned = true));
    await expect.poll(() => text(), { interval: 1 }).toBe("two");
    await expect.poll(() => waits, { interval: 1 }).toBe(2);
    expect(hasReturned).toBe(false);
    free.reject(new Error("this process ends"));
    await writing;
  });
});
