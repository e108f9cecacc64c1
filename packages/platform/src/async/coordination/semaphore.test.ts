import { getEventListeners } from "node:events";
import { setImmediate as macrotask } from "node:timers/promises";
import { expect, test } from "vitest";
import { neverAborts } from "../never-aborts.ts";
import { Semaphore } from "./semaphore.ts";

test("gives out as many permits as there are", async () => {
  const semaphore = new Semaphore(2);
  using first = await semaphore.acquire(neverAborts);
  using second = await semaphore.acquire(neverAborts);
  expect([first, second, semaphore.tryAcquire()]).toEqual([first, second, undefined]);
  expect(semaphore.available).toBe(0);
});

test("lets parties in one at a time, in the order in which they came", async () => {
  const semaphore = new Semaphore(1);
  const order: string[] = [];
  const enter = async (name: string) => {
    using _ = await semaphore.acquire(neverAborts);
    order.push(`${name} enters`);
    await macrotask();
    order.push(`${name} leaves`);
  };
  await Promise.all(["a", "b", "c"].map(enter));
  expect(order).toEqual(["a", "b", "c"].flatMap((name) => [`${name} enters`, `${name} leaves`]));
  expect(semaphore.available).toBe(1);
});

test("does not let a newcomer overtake those who wait", async () => {
  const semaphore = new Semaphore(1);
  const held = await semaphore.acquire(neverAborts);
  const waiting = semaphore.acquire(neverAborts);
  held[Symbol.dispose]();
  expect(semaphore.tryAcquire()).toBeUndefined();
  (await waiting)[Symbol.dispose]();
  expect(semaphore.tryAcquire()).toBeDefined();
});

test("releases the permit of a party that throws", async () => {
  const semaphore = new Semaphore(1);
  const work = async () => {
    using _ = await semaphore.acquire(neverAborts);
    throw new Error("broken");
  };
  await expect(work()).rejects.toThrow("broken");
  expect(semaphore.available).toBe(1);
});

test("releases a permit only once", async () => {
  const semaphore = new Semaphore(2);
  const held = await semaphore.acquire(neverAborts);
  held[Symbol.dispose]();
  held[Symbol.dispose]();
  expect(semaphore.available).toBe(2);
});

test("takes a party out of the queue that gives up, and serves the next", async () => {
  const semaphore = new Semaphore(1);
  const held = await semaphore.acquire(neverAborts);
  const stop = new AbortController();
  const leaving = semaphore.acquire(stop.signal);
  const staying = semaphore.acquire(neverAborts);
  expect(semaphore.waiting).toBe(2);
  stop.abort(new Error("enough"));
  await expect(leaving).rejects.toThrow("enough");
  expect(semaphore.waiting).toBe(1);
  held[Symbol.dispose]();
  (await staying)[Symbol.dispose]();
  expect(semaphore.available).toBe(1);
});

test("loses no permit when a party aborts at the moment at which it gets one", async () => {
  const semaphore = new Semaphore(1);
  const held = await semaphore.acquire(neverAborts);
  const stop = new AbortController();
  const waiting = semaphore.acquire(stop.signal);
  held[Symbol.dispose]();
  stop.abort();
  (await waiting)[Symbol.dispose]();
  expect(semaphore.available).toBe(1);
});

test("gives no permit to a signal that has already aborted", async () => {
  const semaphore = new Semaphore(1);
  await expect(semaphore.acquire(AbortSignal.abort(new Error("enough")))).rejects.toThrow("enough");
  expect(semaphore.available).toBe(1);
});

test("leaves no listener", async () => {
  const semaphore = new Semaphore(1);
  const { signal } = new AbortController();
  const held = await semaphore.acquire(signal);
  const waiting = semaphore.acquire(signal);
  const watching = semaphore.untilAvailable(signal);
  held[Symbol.dispose]();
  (await waiting)[Symbol.dispose]();
  await watching;
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

test("resolves when a permit is free, without taking it", async () => {
  const semaphore = new Semaphore(1);
  await semaphore.untilAvailable(neverAborts);
  const held = semaphore.tryAcquire();
  const both = Promise.all([1, 2].map(() => semaphore.untilAvailable(neverAborts)));
  held?.[Symbol.dispose]();
  await both;
  expect(semaphore.available).toBe(1);
});

test("rejects a wait for a free permit with the signal's reason", async () => {
  const semaphore = new Semaphore(1);
  using _ = await semaphore.acquire(neverAborts);
  const stop = new AbortController();
  const waiting = semaphore.untilAvailable(stop.signal);
  stop.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
});

test("refuses to be created without permits", () => {
  expect(() => new Semaphore(0)).toThrow("at least 1");
  expect(() => new Semaphore(Number.NaN)).toThrow("at least 1");
});
