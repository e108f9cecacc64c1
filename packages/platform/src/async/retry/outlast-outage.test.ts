import { ErrorReason } from "@reeve/contracts/error";
import { expect, test } from "vitest";
import { HastyClock } from "../../../test/support/manual-clock.ts";
import { Failure } from "../../failure.ts";
import { neverAborts } from "../never-aborts.ts";
import { outlastOutage } from "./outlast-outage.ts";

const fails = () => Promise.reject(unavailable());
const unavailable = () => new Failure("unavailable", ErrorReason.UNAVAILABLE, "no answer");

/** A store that does not answer `checks` times. */
function storeAway(checks: number) {
  const store = {
    left: checks,
    answers: async () => {
      if (store.left === 0) return;
      store.left--;
      throw unavailable();
    },
  };
  return store;
}

test("repeats an operation after an outage of any length", async () => {
  const clock = new HastyClock();
  const store = storeAway(5_000);
  const operation = async () => {
    await Promise.resolve();
    if (store.left > 0) throw unavailable();
    return "done";
  };
  expect(await outlastOutage(operation, { ...store, clock }, neverAborts)).toBe("done");
  expect(clock.now()).toBeGreaterThan(3_600_000 / 2);
});

test("gives up an operation that fails twice in a row while the store answers", async () => {
  let attempts = 0;
  const operation = async () => {
    attempts++;
    throw unavailable();
  };
  await expect(outlastOutage(operation, storeAway(0), neverAborts)).rejects.toThrow("no answer");
  expect(attempts).toBe(2);
});

test("pauses longer after each failure while the store answers", async () => {
  const clock = new HastyClock();
  const outage = { ...storeAway(0), clock, maxFailures: 6 };
  await expect(outlastOutage(fails, outage, neverAborts)).rejects.toThrow("no answer");
  const { delaysMs } = clock;
  expect(delaysMs).toHaveLength(5);
  expect(delaysMs.at(-1)).toBeGreaterThan(4 * (delaysMs[0] ?? 0));
});

test("throws any other failure at once", async () => {
  const full = new Failure("exhausted", ErrorReason.STORAGE_FULL, "full");
  const operation = () => Promise.reject(full);
  await expect(outlastOutage(operation, storeAway(9), neverAborts)).rejects.toBe(full);
});

test("ends with the signal while the store is away", async () => {
  const stop = new AbortController();
  const answers = async () => {
    stop.abort(new Error("stopped"));
    throw unavailable();
  };
  await expect(outlastOutage(answers, { answers }, stop.signal)).rejects.toThrow("stopped");
});
