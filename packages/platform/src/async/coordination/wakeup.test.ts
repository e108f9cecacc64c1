import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { activeTimers } from "../../../test/support/active-timers.ts";
import { neverAborts } from "../never-aborts.ts";
import { Wakeup } from "./wakeup.ts";

test("wakes the party that waits", async () => {
  const wakeup = new Wakeup();
  const waiting = wakeup.waitFor(60_000, neverAborts);
  wakeup.notify();
  expect(await waiting).toBe(true);
});

test("keeps a notification for the next wait, and counts several as one", async () => {
  const wakeup = new Wakeup();
  wakeup.notify();
  wakeup.notify();
  await wakeup.wait(neverAborts);
  expect(await wakeup.waitFor(0, neverAborts)).toBe(false);
});

test("rejects with the signal's reason, and can be waited for again", async () => {
  const stop = new AbortController();
  const wakeup = new Wakeup();
  const waiting = wakeup.wait(stop.signal);
  stop.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
  await expect(wakeup.wait(stop.signal)).rejects.toThrow("enough");
  wakeup.notify();
  expect(await wakeup.waitFor(60_000, neverAborts)).toBe(true);
});

test("leaves no listener", async () => {
  const { signal } = new AbortController();
  const wakeup = new Wakeup();
  await wakeup.waitFor(0, signal);
  const waiting = wakeup.wait(signal);
  wakeup.notify();
  await waiting;
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

test("counts notifications that come before the party continues as one", async () => {
  const wakeup = new Wakeup();
  const waiting = wakeup.wait(neverAborts);
  wakeup.notify();
  wakeup.notify();
  await waiting;
  expect(await wakeup.waitFor(0, neverAborts)).toBe(false);
});

test("waits with a bound signal add no listener, and reject with its reason", async () => {
  const stop = new AbortController();
  const wakeup = new Wakeup();
  {
    using _ = wakeup.bind(stop.signal);
    const waiting = wakeup.wait(stop.signal);
    expect(getEventListeners(stop.signal, "abort")).toHaveLength(1);
    wakeup.notify();
    await waiting;
    const aborted = wakeup.waitFor(60_000, stop.signal);
    stop.abort(new Error("enough"));
    await expect(aborted).rejects.toThrow("enough");
  }
  expect(getEventListeners(stop.signal, "abort")).toHaveLength(0);
});

test("refuses a second party, which would never wake", async () => {
  const wakeup = new Wakeup();
  const first = wakeup.wait(neverAborts);
  await expect(wakeup.wait(neverAborts)).rejects.toThrow("another party");
  wakeup.notify();
  await first;
});

test("leaves no timer when a notification comes first", async () => {
  const before = activeTimers();
  const wakeup = new Wakeup();
  const waiting = wakeup.waitFor(60_000, neverAborts);
  expect(activeTimers()).toBe(before + 1);
  wakeup.notify();
  await waiting;
  expect(activeTimers()).toBe(before);
});
