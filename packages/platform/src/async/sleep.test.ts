import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { sleep } from "./sleep.ts";

test("a sleep ends after its time, and leaves nothing behind", async () => {
  const stop = new AbortController();
  await sleep(1, stop.signal);
  expect(getEventListeners(stop.signal, "abort")).toHaveLength(0);
});

test("a sleep that is ended rejects with the reason, before or in the middle", async () => {
  const stop = new AbortController();
  const asleep = sleep(60_000, stop.signal);
  const reason = new Error("enough");
  stop.abort(reason);
  await expect(asleep).rejects.toBe(reason);
  await expect(sleep(60_000, stop.signal)).rejects.toBe(reason);
});
