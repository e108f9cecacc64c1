import { ErrorReason } from "@reeve/contracts/error";
import { expect, test } from "vitest";
import { HastyClock } from "../../../test/support/manual-clock.ts";
import { Failure } from "../../failure.ts";
import { neverAborts } from "../never-aborts.ts";
import { retryUnavailable } from "./retry-unavailable.ts";

const unavailable = () => new Failure("unavailable", ErrorReason.UNAVAILABLE, "no answer");
const exhausted = () => new Failure("exhausted", ErrorReason.TOO_LARGE, "too large");
const random = () => 0;

/** An operation that fails a number of times before it succeeds. */
function failing(failures: number, errorOf: () => Error = unavailable) {
  let attempts = 0;
  return async () => {
    attempts++;
    await Promise.resolve();
    if (attempts <= failures) throw errorOf();
    return attempts;
  };
}

test("repeats an operation while it is unavailable", async () => {
  const clock = new HastyClock();
  const limits = { maxElapsedMs: 60_000, clock, random };
  expect(await retryUnavailable(failing(6), limits, neverAborts)).toBe(7);
  expect(clock.delaysMs).toEqual([50, 100, 200, 400, 800, 1_000]);
});

test("makes one attempt when the time limit is 0", async () => {
  const clock = new HastyClock();
  const retrying = retryUnavailable(failing(1), { maxElapsedMs: 0, clock }, neverAborts);
  await expect(retrying).rejects.toMatchObject({ kind: "unavailable" });
  expect(clock.delaysMs).toEqual([]);
});

test("throws any other failure at once", async () => {
  const clock = new HastyClock();
  const retrying = retryUnavailable(
    failing(1, exhausted),
    { maxElapsedMs: 60_000, clock },
    neverAborts,
  );
  await expect(retrying).rejects.toMatchObject({ kind: "exhausted" });
  expect(clock.delaysMs).toEqual([]);
});
