import { expect, test } from "vitest";
import { KeyedSemaphore } from "./keyed-semaphore.ts";
import { neverAborts } from "../never-aborts.ts";

test("serves a key whose share is free while another key waits for its own share", async () => {
  const semaphore = new KeyedSemaphore({ permits: 3, permitsPerKey: 2, maxWaitingPerKey: 1 });
  const first = await semaphore.acquire("busy", neverAborts);
  await semaphore.acquire("busy", neverAborts);
  let hasThird = false;
  const third = semaphore.acquire("busy", neverAborts).then(() => (hasThird = true));
  expect(await semaphore.acquire("quiet", neverAborts)).toBeDefined();
  expect(hasThird).toBe(false);
  first?.[Symbol.dispose]();
  expect(await third).toBe(true);
});

test("refuses a party of a key of which too many wait", async () => {
  const semaphore = new KeyedSemaphore({ permits: 3, permitsPerKey: 1, maxWaitingPerKey: 1 });
  const held = await semaphore.acquire("a", neverAborts);
  const waiting = semaphore.acquire("a", neverAborts);
  expect(await semaphore.acquire("a", neverAborts)).toBeUndefined();
  held?.[Symbol.dispose]();
  (await waiting)?.[Symbol.dispose]();
  expect(await semaphore.acquire("a", neverAborts)).toBeDefined();
});

test("lets keys wait in order when all permits are taken", async () => {
  const semaphore = new KeyedSemaphore({ permits: 1, permitsPerKey: 1, maxWaitingPerKey: 0 });
  const held = await semaphore.acquire("a", neverAborts);
  const order: string[] = [];
  const enter = async (key: string) => {
    using _ = await semaphore.acquire(key, neverAborts);
    order.push(key);
  };
  const both = Promise.all([enter("b"), enter("c")]);
  held?.[Symbol.dispose]();
  await both;
  expect(order).toEqual(["b", "c"]);
});

test("frees the place and the share of a party that gives up", async () => {
  const semaphore = new KeyedSemaphore({ permits: 1, permitsPerKey: 2, maxWaitingPerKey: 0 });
  const held = await semaphore.acquire("a", neverAborts);
  const stop = new AbortController();
  const waiting = semaphore.acquire("a", stop.signal);
  stop.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
  const next = semaphore.acquire("a", neverAborts);
  held?.[Symbol.dispose]();
  (await next)?.[Symbol.dispose]();
  expect(semaphore.size).toBe(0);
});

test("gives a permit at once, or none, to a party that does not wait", async () => {
  const semaphore = new KeyedSemaphore({ permits: 2, permitsPerKey: 1, maxWaitingPerKey: 1 });
  const held = semaphore.tryAcquire("a");
  expect(held).toBeDefined();
  expect(semaphore.tryAcquire("a")).toBeUndefined();
  const waiting = semaphore.acquire("a", neverAborts);
  expect(semaphore.tryAcquire("b")).toBeDefined();
  expect(semaphore.tryAcquire("c")).toBeUndefined();
  held?.[Symbol.dispose]();
  expect(semaphore.tryAcquire("a")).toBeUndefined();
  (await waiting)?.[Symbol.dispose]();
  expect(semaphore.size).toBe(1);
});
