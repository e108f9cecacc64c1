import { getEventListeners } from "node:events";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { DueTimes } from "./due-times.ts";

const never = new AbortController().signal;

test("a due key is taken once, and the next due time is known", () => {
  const due = new DueTimes();
  expect(due.next()).toBeUndefined();
  due.set("b", 20);
  due.set("a", 10);
  due.set("c", 30);
  due.remove("b");
  expect(due.next()).toBe(10);
  expect(due.takeUntil(9)).toEqual([]);
  expect(due.takeUntil(10)).toEqual(["a"]);
  expect(due.takeUntil(10)).toEqual([]);
  expect(due.next()).toBe(30);
});

test("a failed key is due again with a growing delay, until it is settled or removed", () => {
  const due = new DueTimes();
  const retryMs = () => due.retry("a", 0);
  expect(Array.from({ length: 8 }, retryMs)).toEqual(
    [1, 2, 4, 8, 16, 32, 60, 60].map((seconds) => seconds * 1_000),
  );
  expect(due.takeUntil(60_000)).toEqual(["a"]);
  due.settle("a");
  expect(retryMs()).toBe(1_000);
  due.remove("a");
  expect([due.size, due.retried]).toEqual([0, 0]);
  expect(retryMs()).toBe(1_000);
});

test("setting a time wakes the waiting party", async () => {
  const due = new DueTimes();
  const changed = due.changed(never);
  due.set("a", 10);
  await expect(changed).resolves.toBeUndefined();
});

test("setting a time that is not the earliest does not wake the waiting party", async () => {
  const due = new DueTimes();
  due.set("a", 10);
  // The earliest time itself counts as a change.
  await due.changed(never);
  const stop = new AbortController();
  const changed = due.changed(stop.signal);
  due.set("b", 20);
  due.set("c", 10);
  stop.abort(new Error("not woken"));
  await expect(changed).rejects.toThrow("not woken");
});

test("any keys that are set, moved, and removed are taken in the order of their times", () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.tuple(fc.integer({ min: 0, max: 40 }), fc.option(fc.integer({ min: 0, max: 99 }))),
        { maxLength: 400 },
      ),
      (steps) => {
        const due = new DueTimes();
        const known = new Map<string, number>();
        for (const [number, dueMs] of steps) {
          const key = `k${number}`;
          if (dueMs === null) {
            due.remove(key);
            known.delete(key);
          } else {
            due.set(key, dueMs);
            known.set(key, dueMs);
          }
          expect(due.next()).toBe(known.size === 0 ? undefined : Math.min(...known.values()));
        }
        const taken = due.takeUntil(100);
        expect(new Set(taken)).toEqual(new Set(known.keys()));
        const times = taken.map((key) => known.get(key) ?? NaN);
        expect(times).toEqual(times.toSorted((a, b) => a - b));
        expect(due.size).toBe(0);
      },
    ),
  );
});

test("waiting with an aborted signal rejects at once", async () => {
  const gone = AbortSignal.abort(new Error("gone"));
  await expect(new DueTimes().changed(gone)).rejects.toThrow("gone");
});

test("waiting leaves no listener behind, however it ends", async () => {
  const due = new DueTimes();
  const stop = new AbortController();
  for (let turn = 0; turn < 3; turn++) {
    const changed = due.changed(stop.signal);
    due.set("a", -turn);
    await changed;
  }
  expect(getEventListeners(stop.signal, "abort")).toHaveLength(0);
  const last = due.changed(stop.signal);
  stop.abort(new Error("enough"));
  await expect(last).rejects.toThrow("enough");
  expect(getEventListeners(stop.signal, "abort")).toHaveLength(0);
});
