import { expect, test } from "vitest";
import { neverAborts } from "./never-aborts.ts";
import { runTogether } from "./run-together.ts";
import { untilAborted } from "./sleep.ts";

const broken = () => Promise.reject(new Error("broken"));

test("resolves when all jobs have ended", async () => {
  const ended: string[] = [];
  const job = (name: string) => async () => {
    await Promise.resolve();
    ended.push(name);
  };
  await runTogether([job("a"), job("b")], neverAborts);
  expect(ended).toEqual(["a", "b"]);
});

test("aborts the other jobs when one breaks, waits for them, and rejects with its error", async () => {
  let hasCleanedUp = false;
  const lasting = async (signal: AbortSignal) => {
    await untilAborted(signal);
    await Promise.resolve();
    hasCleanedUp = true;
    throw signal.reason;
  };
  await expect(runTogether([lasting, broken], neverAborts)).rejects.toThrow("broken");
  expect(hasCleanedUp).toBe(true);
});

test("aborts all jobs with the signal", async () => {
  const stop = new AbortController();
  const reasons: unknown[] = [];
  const lasting = async (signal: AbortSignal) => {
    await untilAborted(signal);
    reasons.push(signal.reason);
  };
  const running = runTogether([lasting, lasting], stop.signal);
  stop.abort(new Error("enough"));
  await running;
  expect(reasons).toEqual([stop.signal.reason, stop.signal.reason]);
});
