import { getEventListeners } from "node:events";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { DueTimes } from "./due-times.ts";

const never = new AbortController().signal;

test("what is due is taken once, and the next time is known", () => {
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

test("what nothing came of is due again, later each time, until something does or it is removed", () => {
  const due = new DueTimes();
  const rests = () => due.retry("a", 0);
  expect(Array.from({ length: 8 }, rests)).toEqual(
    [1, 2, 4, 8, 16, 32, 60, 60].map((seconds) => seconds * 1_000),
  );
  expect(due.takeUntil(60_000)).toEqual(["a"]);
  due.settle("a");
  expect(rests()).toBe(1_000);
  due.remove("a");
  expect([due.size, due.retried]).toEqual([0, 0]);
  expect(rests()).toBe(1_000);
});

test("whoever waits hears of a time that is set", async () => {
  const due = new DueTimes();
  const changed = due.changed(never);
  due.set("a", 10);
  await expect(changed).resolves.toBeUndefined();
});

test("whoever waits is left alone by what is due later than the next", async () => {
  const due = new DueTimes();
  due.set("a", 10);
  const stop = new AbortController();
  const changed = due.changed(stop.signal);
  due.set("b", 20);
  due.set("c", 10);
  stop.abort(new Error("nothing came"));
  await expect(changed).rejects.toThrow("nothing came");
});

test("any number of keys, set, moved and removed, is taken in the order of their times", () => {
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

test("waiting with a signal that is aborted rejects at once", async () => {
  const gone = AbortSignal.abort(new Error("gone"));
  await expect(new DueTimes().changed(gone)).rejects.toThrow("gone");
});

test("waiting leaves no listener behind, whichever way it ends", async () => {
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
