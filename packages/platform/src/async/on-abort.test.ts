import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { onAbort } from "./on-abort.ts";

test("calls the callback once when the signal aborts", () => {
  const stop = new AbortController();
  let calls = 0;
  using _ = onAbort(stop.signal, () => calls++);
  expect(calls).toBe(0);
  stop.abort();
  stop.abort();
  expect(calls).toBe(1);
});

test("calls the callback at once for a signal that has already aborted", () => {
  let calls = 0;
  using _ = onAbort(AbortSignal.abort(), () => calls++);
  expect(calls).toBe(1);
});

test("does not call a disposed callback, and leaves no listener", () => {
  const stop = new AbortController();
  let calls = 0;
  onAbort(stop.signal, () => calls++)[Symbol.dispose]();
  expect(getEventListeners(stop.signal, "abort")).toHaveLength(0);
  stop.abort();
  expect(calls).toBe(0);
});

test("removes only its own listener when a callback is registered twice", () => {
  const stop = new AbortController();
  let calls = 0;
  const count = () => calls++;
  using _ = onAbort(stop.signal, count);
  onAbort(stop.signal, count)[Symbol.dispose]();
  stop.abort();
  expect(calls).toBe(1);
});
