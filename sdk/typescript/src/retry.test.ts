import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { ReeveError } from "./reeve-error.ts";
import { delayBeforeRetry, retry } from "./retry.ts";

const limits = { requestTimeoutMs: 10_000, retryTimeoutMs: 10_000 };
const lost = ReeveError.lost("no server");

test("waits twice as long after each failure, up to a limit", () => {
  const delays = [1, 2, 3, 20].map((failures) => delayBeforeRetry(lost, failures, Infinity));
  for (const [index, maximum] of [100, 200, 400, 5_000].entries()) {
    expect(delays[index]).toBeGreaterThanOrEqual(maximum / 2);
    expect(delays[index]).toBeLessThanOrEqual(maximum);
  }
});

test("throws the error when the next attempt would start after the deadline", () => {
  expect(() => delayBeforeRetry(lost, 20, performance.now() + 1_000)).toThrow(lost);
});

test("repeats a request only while the server cannot be reached", async () => {
  const failures = [Code.Unavailable, Code.InvalidArgument];
  const request = () => Promise.reject(new ConnectError("no", failures.shift()));
  await expect(retry(request, limits, undefined)).rejects.toMatchObject({
    code: Code.InvalidArgument,
  });
  expect(failures).toEqual([]);
});

test("stops repeating after the retry timeout, which does not shorten the first attempt", async () => {
  const timeouts: number[] = [];
  const request = (timeoutMs: number) => {
    timeouts.push(timeoutMs);
    return Promise.reject(new ConnectError("no", Code.Unavailable));
  };
  const started = retry(request, { ...limits, retryTimeoutMs: 1 }, undefined);
  await expect(started).rejects.toMatchObject({ reason: "CONNECTION_LOST" });
  expect(timeouts).toEqual([10_000]);
});
