import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { abortable } from "./abortable.ts";

const pending = () => Promise.withResolvers<string>().promise;

test("settles as the promise does, and leaves no listener", async () => {
  const { signal } = new AbortController();
  expect(await abortable(Promise.resolve("done"), signal)).toBe("done");
  await expect(abortable(Promise.reject(new Error("broken")), signal)).rejects.toThrow("broken");
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

test("rejects with the signal's reason while the promise is pending", async () => {
  const stop = new AbortController();
  const reason = new Error("enough");
  const waiting = abortable(pending(), stop.signal);
  expect(getEventListeners(stop.signal, "abort")).toHaveLength(1);
  stop.abort(reason);
  await expect(waiting).rejects.toBe(reason);
  await expect(abortable(pending(), stop.signal)).rejects.toBe(reason);
  expect(getEventListeners(stop.signal, "abort")).toHaveLength(0);
});

test("prefers a promise that has already settled to a signal that has already aborted", async () => {
  expect(await abortable(Promise.resolve("done"), AbortSignal.abort())).toBe("done");
});

test("ignores an error of the promise after the abort", async () => {
  const work = Promise.withResolvers<never>();
  const stop = new AbortController();
  const waiting = abortable(work.promise, stop.signal);
  stop.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
  // An unhandled rejection would fail the test run.
  work.reject(new Error("too late"));
});
