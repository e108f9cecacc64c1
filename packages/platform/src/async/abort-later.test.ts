import { once } from "node:events";
import { expect, test } from "vitest";
import { abortLater } from "./abort-later.ts";

test("aborts after the signal, with its reason", async () => {
  const stop = new AbortController();
  const later = abortLater(0, stop.signal);
  stop.abort(new Error("enough"));
  expect(later.aborted).toBe(false);
  await once(later, "abort");
  expect(later.reason).toBe(stop.signal.reason);
});

test("starts the delay at once for a signal that has already aborted", async () => {
  const later = abortLater(0, AbortSignal.abort(new Error("enough")));
  expect(later.aborted).toBe(false);
  await once(later, "abort");
  expect(later.reason).toMatchObject({ message: "enough" });
});
