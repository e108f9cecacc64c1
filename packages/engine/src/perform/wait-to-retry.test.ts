import { ManualClock } from "@reeve/platform/test/support/manual-clock";
import { expect, test } from "vitest";
import { nextEffects } from "../domain/next-effects.ts";
import { countingModel } from "../../test/support/models.ts";
import { PlayedRun } from "../../test/support/run-player.ts";
import { WorkerBench } from "../../test/support/worker-bench.ts";
import { perform } from "./perform.ts";

const never = new AbortController().signal;

test.each([
  ["waits for the rest of the time when another owner began to wait", 3_000, 4_000],
  ["does not wait when the time is over", 60_000, 0],
  ["waits no longer than asked when the clock of the other owner is ahead", -5_000, 7_000],
])("a repetition of a model call %s", async (_, elapsedMs, expectedMs) => {
  const run = new PlayedRun();
  const retryAfter = { seconds: 7n };
  const value = { reason: "rate_limited", message: "", retryable: true, retryAfter };
  run.write({ case: "modelCallFailed", value });
  const failedAtMs = run.nowMs;
  run.claimedAnew();
  const clock = new ManualClock(failedAtMs + elapsedMs);
  const [effect] = nextEffects(run.state);
  if (effect?.kind !== "wait_to_retry") throw new Error("the run does not wait");
  const ports = { ...new WorkerBench(countingModel(0)).ports("w"), clock };
  const facts = perform(() => run.state, effect, ports, never)[Symbol.asyncIterator]();
  const due = facts.next();
  await clock.advance(expectedMs);
  expect(clock.delaysMs).toEqual([expectedMs]);
  expect((await due).value).toMatchObject([{ event: { case: "modelRetryDue" } }]);
});
