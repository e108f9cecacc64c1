import { RunStatus } from "@reeve/contracts/run";
import { emptyHead, foldHead } from "@reeve/run/head/run-head";
import { runOf } from "@reeve/run/head/run-of";
import { appendExternal } from "@reeve/run/commands/append-external";
import { cancelRun } from "@reeve/run/commands/cancel-run";
import { describe, expect, test } from "vitest";
import { countingModel } from "../../test/support/models.ts";
import { expectWhole, key, WorkerBench } from "../../test/support/worker-bench.ts";
import { ModelFailure } from "../ports/model-provider.ts";

const never = new AbortController().signal;
const maxHeldWaitMs = 5_000;

/** Returns a failure after which the provider asks for a pause. */
function asking(retryAfterMs: number): ModelFailure {
  return new ModelFailure("rate_limited", "slow down", { retryAfterMs });
}

/** A run that calls a tool in its first turn, with failures before its turns. Workers read the clock `nowMs`. */
class DelayedRun {
  nowMs = 1_000;
  readonly bench: WorkerBench;

  constructor(...failures: ModelFailure[]) {
    this.bench = new WorkerBench(countingModel(1, failures));
  }

  async drive(worker: string, attempt = 1): Promise<string> {
    const ports = this.bench.ports(worker);
    const clock = { now: () => this.nowMs, sleep: ports.clock.sleep };
    return await this.bench.drive(worker, 1, undefined, attempt, {
      ...ports,
      clock,
      maxHeldWaitMs,
    });
  }
}

describe("a run that waits long for its provider", () => {
  test("goes back to the queue for the time of the wait, and another worker continues it then", async () => {
    const run = new DelayedRun(asking(60_000));
    await run.bench.create();
    expect(await run.drive("w1")).toBe("given back");
    const [delayMs = 0] = run.bench.redeliveryDelaysMs;
    expect(delayMs).toBeGreaterThanOrEqual(60_000);
    run.nowMs += delayMs;
    expect(await run.drive("w2", 2)).toBe("acknowledged");
    const events = await run.bench.events();
    expectWhole(events, RunStatus.COMPLETED);
    expect(events.filter(({ event }) => event.case === "runClaimed")).toHaveLength(2);
    expect(run.bench.executed).toHaveLength(1);
  });

  test("repeats no tool call that finished before the wait", async () => {
    const model = countingModel(1);
    let turns = 0;
    const bench = new WorkerBench({
      ...model,
      async *stream(request, signal) {
        if (++turns === 2) throw asking(60_000);
        yield* model.stream(request, signal);
      },
    });
    await bench.create();
    const ports = { ...bench.ports("w1"), maxHeldWaitMs };
    expect(await bench.drive("w1", 1, undefined, 1, ports)).toBe("given back");
    expect(bench.executed).toHaveLength(1);
    const late = { ...bench.ports("w2"), clock: { ...ports.clock, now: () => 3_600_000 } };
    expect(await bench.drive("w2", 1, undefined, 2, late)).toBe("acknowledged");
    expectWhole(await bench.events(), RunStatus.COMPLETED);
    expect(bench.executed).toHaveLength(1);
  });

  test("waits for the rest of the time when its message comes too early", async () => {
    const run = new DelayedRun(asking(60_000));
    await run.bench.create();
    await run.drive("w1");
    run.nowMs += 20_000;
    expect(await run.drive("w2", 2)).toBe("given back");
    const [first = 0, second = 0] = run.bench.redeliveryDelaysMs;
    expect(second).toBe(first - 20_000);
  });

  test("shows what it waits for while no worker has it", async () => {
    const run = new DelayedRun(asking(60_000));
    await run.bench.create();
    await run.drive("w1");
    const shown = runOf(foldHead(emptyHead, await run.bench.events()));
    expect(shown.status).toBe(RunStatus.RUNNING);
    expect(shown.modelWait).toMatchObject({ reason: "rate_limited", attempt: 1 });
  });

  // Requirement: CAN-2
  test("is cancelled at once while no worker has it", async () => {
    const run = new DelayedRun(asking(60_000));
    const { bench } = run;
    await bench.create();
    await run.drive("w1");
    const head = await cancelRun(bench, key, { requestedBy: "ann", reason: "" }, never);
    expect(runOf(head)).toMatchObject({ status: RunStatus.CANCELLED });
    expect(await run.drive("w2", 2)).toBe("acknowledged");
    expectWhole(await bench.events(), RunStatus.CANCELLED);
  });

  test("reads a message that came during the wait", async () => {
    const run = new DelayedRun(asking(60_000));
    await run.bench.create();
    await run.drive("w1");
    const value = { messageId: "m", message: { text: "hurry" } };
    const submitted = { case: "messageSubmitted", value } as const;
    await appendExternal(run.bench, key, () => [submitted], never);
    run.nowMs += 90_000;
    expect(await run.drive("w2", 2)).toBe("acknowledged");
    const kinds = (await run.bench.events()).map(({ event }) => event.case);
    expect(kinds).toContain("messageInjected");
  });
});

test("the log says whether the answer of a failed call had begun", async () => {
  const model = countingModel(0);
  const failures = [
    new ModelFailure("unavailable", "refused", { retryAfterMs: 1 }),
    new ModelFailure("unavailable", "cut", { retryAfterMs: 1, answerBegan: true }),
  ];
  const bench = new WorkerBench({
    ...model,
    async *stream(request, signal) {
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
      yield* model.stream(request, signal);
    },
  });
  await bench.create();
  await bench.drive("w1", 1);
  const events = await bench.events();
  const failed = events.flatMap(({ event }) =>
    event.case === "modelCallFailed" ? [event.value.answerBegan] : [],
  );
  expect(failed).toEqual([false, true]);
});

test("a failed call is charged what its provider reports, unless another attempt follows", async () => {
  const usage = {
    inputTokens: 100,
    outputTokens: 20,
    cachedInputTokens: 60,
    cacheWriteInputTokens: 0,
    reasoningTokens: 0,
    costUsd: 0.25,
  };
  const run = new DelayedRun(
    new ModelFailure("unavailable", "cut", { retryAfterMs: 1, usage }),
    new ModelFailure("refused", "the task failed", { usage }),
  );
  await run.bench.create();
  await run.drive("w1");
  const events = await run.bench.events();
  expectWhole(events, RunStatus.ERROR);
  expect(runOf(foldHead(emptyHead, events)).cost).toMatchObject({
    llmCalls: 2,
    inputTokens: 100,
    costUsd: 0.25,
  });
});

test("a run that waits for a few seconds stays with its worker", async () => {
  const run = new DelayedRun(asking(2_000));
  await run.bench.create();
  expect(await run.drive("w1")).toBe("acknowledged");
  expectWhole(await run.bench.events(), RunStatus.COMPLETED);
});
