import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { activeTimers } from "../../test/support/active-timers.ts";
import { neverAborts } from "./never-aborts.ts";
import { sleep, untilAborted } from "./sleep.ts";

test("resolves after the delay, and leaves no listener", async () => {
  const { signal } = new AbortController();
  await sleep(0, signal);
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

test("rejects with the signal's reason, before and during the delay", async () => {
  const stop = new AbortController();
  const reason = new Error("enough");
  const asleep = sleep(60_000, stop.signal);
  stop.abort(reason);
  await expect(asleep).rejects.toBe(reason);
  await expect(sleep(0, stop.signal)).rejects.toBe(reason);
  expect(getEventListeners(stop.signal, "abort")).toHaveLength(0);
});

test.each([2 ** 31, Infinity])("does not fire a delay of %s ms at once", async (delayMs) => {
  const stop = new AbortController();
  let hasFired = false;
  const asleep = sleep(delayMs, stop.signal).then(() => (hasFired = true));
  // Node fires an overflowing delay after 1 ms, and timers of equal delay in order: before this one.
  await sleep(1, neverAborts);
  expect(hasFired).toBe(false);
  stop.abort(new Error("enough"));
  await expect(asleep).rejects.toThrow("enough");
});

test("waits until a signal aborts", async () => {
  const stop = new AbortController();
  const waiting = untilAborted(stop.signal);
  stop.abort();
  await waiting;
  await untilAborted(stop.signal);
  expect(getEventListeners(stop.signal, "abort")).toHaveLength(0);
});

test("leaves no timer when the signal aborts", async () => {
  const before = activeTimers();
  const stop = new AbortController();
  const asleep = sleep(60_000, stop.signal);
  expect(activeTimers()).toBe(before + 1);
  stop.abort(new Error("enough"));
  await expect(asleep).rejects.toThrow("enough");
  expect(activeTimers()).toBe(before);
});
