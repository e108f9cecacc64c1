import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { activeTimers } from "../../test/support/active-timers.ts";
import { neverAborts } from "./never-aborts.ts";
import { settledWithin } from "./settled-within.ts";

const pending = () => Promise.withResolvers<void>().promise;

test("reports whether a promise was fulfilled in time", async () => {
  expect(await settledWithin(Promise.resolve(), 60_000, neverAborts)).toBe(true);
  expect(await settledWithin(pending(), 0, neverAborts)).toBe(false);
});

test("rejects as the promise does", async () => {
  const broken = Promise.reject(new Error("broken"));
  await expect(settledWithin(broken, 60_000, neverAborts)).rejects.toThrow("broken");
});

test("ignores an error after the time", async () => {
  const work = Promise.withResolvers<void>();
  expect(await settledWithin(work.promise, 0, neverAborts)).toBe(false);
  // An unhandled rejection would fail the test run.
  work.reject(new Error("too late"));
});

test("rejects with the signal's reason", async () => {
  const stop = new AbortController();
  const waiting = settledWithin(pending(), 60_000, stop.signal);
  stop.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
  expect(getEventListeners(stop.signal, "abort")).toHaveLength(0);
});

test("leaves no timer when the promise settles first", async () => {
  const before = activeTimers();
  await settledWithin(Promise.resolve(), 60_000, neverAborts);
  expect(activeTimers()).toBe(before);
});
