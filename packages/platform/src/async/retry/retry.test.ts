import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { HastyClock, ManualClock } from "../../../test/support/manual-clock.ts";
import { neverAborts } from "../never-aborts.ts";
import type { RetryOptions } from "./retry.ts";
import { retry } from "./retry.ts";

class Unavailable extends Error {
  readonly retryAfterMs: number | undefined;

  constructor(retryAfterMs?: number) {
    super("unavailable");
    this.retryAfterMs = retryAfterMs;
  }
}

const retryAfterMs = (error: unknown) =>
  error instanceof Unavailable ? error.retryAfterMs : undefined;

const optionsWith = (clock: ManualClock): RetryOptions => ({
  backoff: { firstDelayMs: 100, maxDelayMs: 400 },
  isRetryable: (error) => error instanceof Unavailable,
  clock,
});

/** An operation that fails a number of times before it succeeds. */
function failing(failures: number, errorOf: () => Error = () => new Unavailable()) {
  const counted = {
    attempts: 0,
    run: async () => {
      counted.attempts++;
      await Promise.resolve();
      if (counted.attempts <= failures) throw errorOf();
      return "done";
    },
  };
  return counted;
}

test("repeats an operation until it succeeds, with delays that double up to the cap", async () => {
  const clock = new HastyClock();
  const operation = failing(4);
  expect(await retry(operation.run, optionsWith(clock), neverAborts)).toBe("done");
  expect(operation.attempts).toBe(5);
  expect(clock.delaysMs).toEqual([100, 200, 400, 400]);
});

test("throws an error at once that is not retryable", async () => {
  const operation = failing(1, () => new Error("broken"));
  const options = optionsWith(new HastyClock());
  await expect(retry(operation.run, options, neverAborts)).rejects.toThrow("broken");
  expect(operation.attempts).toBe(1);
});

test("throws the last error when no attempts are left", async () => {
  const operation = failing(Infinity);
  const options = { ...optionsWith(new HastyClock()), maxAttempts: 3 };
  await expect(retry(operation.run, options, neverAborts)).rejects.toThrow("unavailable");
  expect(operation.attempts).toBe(3);
});

test("throws the last error when the next delay would exceed the time limit", async () => {
  const clock = new HastyClock();
  const operation = failing(Infinity);
  const options = { ...optionsWith(clock), maxElapsedMs: 699 };
  await expect(retry(operation.run, options, neverAborts)).rejects.toThrow("unavailable");
  expect(clock.delaysMs).toEqual([100, 200]);
});

test("makes one attempt when the time limit is 0", async () => {
  const operation = failing(1);
  const options = { ...optionsWith(new HastyClock()), maxElapsedMs: 0 };
  await expect(retry(operation.run, options, neverAborts)).rejects.toThrow("unavailable");
  expect(operation.attempts).toBe(1);
});

test("waits as long as the server asks, if that is longer than the back-off", async () => {
  const clock = new HastyClock();
  const hints = [5_000, 1, undefined];
  const operation = failing(3, () => new Unavailable(hints.shift()));
  await retry(operation.run, { ...optionsWith(clock), retryAfterMs }, neverAborts);
  expect(clock.delaysMs).toEqual([5_000, 200, 400]);
});

test("randomizes the delays", async () => {
  const clock = new HastyClock();
  const backoff = { firstDelayMs: 100, maxDelayMs: 400, jitter: 0.5 };
  const options = { ...optionsWith(clock), backoff, random: () => 0.5 };
  await retry(failing(2).run, options, neverAborts);
  expect(clock.delaysMs).toEqual([75, 150]);
});

test("reports each attempt that it repeats", async () => {
  const retries: unknown[] = [];
  const onRetry: RetryOptions["onRetry"] = (error, { attempt, delayMs }) =>
    retries.push([String(error), attempt, delayMs]);
  await retry(failing(2).run, { ...optionsWith(new HastyClock()), onRetry }, neverAborts);
  expect(retries).toEqual([
    ["Error: unavailable", 1, 100],
    ["Error: unavailable", 2, 200],
  ]);
});

test("ends a delay with the signal's reason, and leaves no listener", async () => {
  const stop = new AbortController();
  const clock = new ManualClock();
  const retrying = retry(failing(Infinity).run, optionsWith(clock), stop.signal);
  await clock.advance(0);
  expect(clock.sleepers).toBe(1);
  stop.abort(new Error("enough"));
  await expect(retrying).rejects.toThrow("enough");
  expect(clock.sleepers).toBe(0);
  expect(getEventListeners(stop.signal, "abort")).toHaveLength(0);
});

test("makes no attempt for a signal that has already aborted", async () => {
  const operation = failing(0);
  const signal = AbortSignal.abort(new Error("enough"));
  await expect(retry(operation.run, optionsWith(new ManualClock()), signal)).rejects.toThrow(
    "enough",
  );
  expect(operation.attempts).toBe(0);
});

test("throws the signal's reason when an attempt fails after the abort", async () => {
  const stop = new AbortController();
  const operation = async () => {
    stop.abort(new Error("enough"));
    throw await Promise.resolve(new Error("interrupted"));
  };
  const retrying = retry(operation, optionsWith(new ManualClock()), stop.signal);
  await expect(retrying).rejects.toThrow("enough");
});

test("returns a result that arrives after the abort", async () => {
  const stop = new AbortController();
  const operation = async () => {
    stop.abort();
    return await Promise.resolve("written");
  };
  expect(await retry(operation, optionsWith(new ManualClock()), stop.signal)).toBe("written");
});
