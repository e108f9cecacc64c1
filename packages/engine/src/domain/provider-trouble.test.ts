import { retryPolicyFor } from "@reeve/agent/spec/retry-policy";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import { runOf } from "@reeve/run/head/run-of";
import { describe, expect, test } from "vitest";
import { PlayedRun, subtask } from "../../test/support/run-player.ts";
import { nextEffects } from "./next-effects.ts";
import { workedMs } from "./state/worked-time.ts";

const passing = { retryable: true };

/** Starts a run that has a retry policy, as every new run has. */
function runWith(spec: MessageInitShape<typeof AgentSpecSchema> = {}): PlayedRun {
  const retry = retryPolicyFor(create(AgentSpecSchema, spec), undefined);
  return new PlayedRun(spec, { prepared: { retry } });
}

/** Returns the delay for which a run waits. Undefined: it does not wait. */
function waitOf({ state }: PlayedRun): number | undefined {
  const [effect] = nextEffects(state);
  return effect?.kind === "wait_to_retry" ? effect.delayMs : undefined;
}

/** Fails the model call and waits, again and again, until the run ends or `untilMs` is over. Returns the delays. */
function outage(run: PlayedRun, untilMs: number, failure = { reason: "unavailable" }): number[] {
  const endMs = run.nowMs + untilMs;
  const delays: number[] = [];
  while (run.end === undefined && run.nowMs < endMs) {
    run.fails(failure.reason, passing);
    const delayMs = waitOf(run);
    if (delayMs === undefined) break;
    delays.push(delayMs);
    run.nowMs += delayMs;
    run.retries();
  }
  return delays;
}

describe("a run whose provider does not answer", () => {
  // Requirement: RES-2
  test("survives half an hour, and its wall clock of three minutes stands still meanwhile", () => {
    const run = runWith();
    const before = workedMs(run.state.worked, run.nowMs);
    const delays = outage(run, 1_800_000);
    expect(run.end).toBeUndefined();
    expect(workedMs(run.state.worked, run.nowMs) - before).toBeLessThan(delays.length * 50);
    expect(run.says("at last").turn().end).toBe("completed");
  });

  test("does not use up its model calls", () => {
    const run = runWith({ budgets: { maxLlmCalls: 2 } });
    outage(run, 1_800_000);
    run.turn({ name: "search" }).result(0);
    expect(run.turn().end).toBe("completed");
  });

  test("pays for attempts that had begun to answer with its model calls", () => {
    const run = runWith({ budgets: { maxLlmCalls: 2 } });
    for (let more = 5; run.end === undefined && more > 0; more--) {
      run.says("half").fails("unavailable", passing);
      if (run.end === undefined) run.retries();
    }
    expect(run.clientTrace).toContain("error:budget_exceeded");
    expect(run.all("modelCallFailed")).toHaveLength(2);
  });

  test("pays for attempts that had begun with a tool call, which shows nothing", () => {
    const run = runWith({ budgets: { maxLlmCalls: 2 } });
    for (let more = 5; run.end === undefined && more > 0; more--) {
      run.fails("unavailable", { ...passing, answerBegan: true });
      if (run.end === undefined) run.retries();
    }
    expect(run.clientTrace).toContain("error:budget_exceeded");
    expect(run.all("modelCallFailed")).toHaveLength(2);
  });

  test("does not count the time of an attempt that fails, however long it takes", () => {
    const run = runWith();
    const before = workedMs(run.state.worked, run.nowMs);
    run.nowMs += 170_000;
    run.fails("unavailable", passing);
    run.nowMs += waitOf(run) ?? 0;
    run.retries();
    run.nowMs += 100_000;
    run.turn({ name: "search" }).result(0);
    expect(run.end).toBeUndefined();
    const worked = workedMs(run.state.worked, run.nowMs) - before;
    expect(worked).toBeGreaterThan(100_000);
    expect(worked).toBeLessThan(101_000);
  });

  test("keeps its wall clock stopped when another worker takes over the wait", () => {
    const run = runWith();
    const before = workedMs(run.state.worked, run.nowMs);
    run.fails("unavailable", passing);
    run.nowMs += 400_000;
    run.claimedAnew();
    run.nowMs += 400_000;
    run.retries();
    expect(workedMs(run.state.worked, run.nowMs) - before).toBeLessThan(1_000);
    expect(run.turn().end).toBe("completed");
  });

  test("lets its wall clock go on when the wait of the last subtask is over", () => {
    const run = runWith();
    run.turn(subtask("one"), subtask("two"));
    const [one = "", two = ""] = run.subtasks;
    run.fails("unavailable", { ...passing, id: one }).fails("unavailable", { ...passing, id: two });
    const before = workedMs(run.state.worked, run.nowMs);
    run.nowMs += 1_000;
    run.retries(one);
    run.nowMs += 1_000;
    expect(workedMs(run.state.worked, run.nowMs)).toBe(before);
    run.retries(two);
    run.nowMs += 1_000;
    expect(workedMs(run.state.worked, run.nowMs)).toBeGreaterThanOrEqual(before + 1_000);
  });

  test("waits twice as long each time, up to the limit, with a part that differs between runs", () => {
    const retry = { initialBackoff: { seconds: 1n }, maxBackoff: { seconds: 8n } };
    const delays = outage(runWith({ retry }), 120_000);
    for (const [index, delayMs] of delays.entries()) {
      const wholeMs = Math.min(1_000 * 2 ** index, 8_000);
      expect(delayMs).toBeGreaterThanOrEqual(wholeMs / 2);
      expect(delayMs).toBeLessThanOrEqual(wholeMs);
    }
    expect(new Set(delays.slice(4)).size).toBeGreaterThan(delays.slice(4).length / 2);
  });

  // Requirement: RES-2
  test("ends when its attempts are used up", () => {
    const run = runWith({ retry: { maxRetries: 2 } });
    expect(outage(run, 3_600_000)).toHaveLength(2);
    expect(run.end).toBe("error");
    expect(run.all("error")[0]?.message).toContain("after 3 attempts");
  });

  test("is not repeated at all with no retries", () => {
    const run = runWith({ retry: { maxRetries: 0 } }).fails("rate_limited", passing);
    expect(run.clientTrace).toContain("error:rate_limited");
  });

  test("makes its last attempt when its time is over, and then ends", () => {
    const run = runWith({ retry: { maxElapsed: { seconds: 100n } } });
    const startMs = run.nowMs;
    const delays = outage(run, 3_600_000);
    expect(run.end).toBe("error");
    expect(run.nowMs - startMs).toBeGreaterThanOrEqual(100_000);
    expect(run.nowMs - startMs).toBeLessThan(100_000 + delays.length * 50);
  });

  test("begins a new time for the next turn", () => {
    const run = runWith({ retry: { maxElapsed: { seconds: 100n } } });
    outage(run, 60_000);
    run.turn({ name: "search" }).result(0);
    outage(run, 60_000);
    expect(run.end).toBeUndefined();
  });

  test("waits at least as long as the provider asks", () => {
    const run = runWith().fails("rate_limited", { ...passing, retryAfterMs: 7_000 });
    expect(waitOf(run)).toBeGreaterThanOrEqual(7_000);
    expect(waitOf(run)).toBeLessThan(8_000);
  });

  test("does not wait when the provider asks for longer than the run may wait", () => {
    const run = runWith({ retry: { maxElapsed: { seconds: 100n } } });
    run.fails("rate_limited", { ...passing, retryAfterMs: 101_000 });
    expect(run.clientTrace).toContain("error:rate_limited");
  });

  test("waits without limit for a provider that no worker has", () => {
    const run = runWith({ retry: { maxRetries: 1, maxElapsed: { seconds: 1n } } });
    outage(run, 7_200_000, { reason: "not_configured" });
    expect(run.end).toBeUndefined();
  });

  test("spends no attempt while its provider is left alone, but its time", () => {
    const run = runWith({ retry: { maxRetries: 1, maxElapsed: { seconds: 600n } } });
    outage(run, 300_000, { reason: "paused" });
    expect(run.end).toBeUndefined();
    expect(outage(run, 3_600_000)).toHaveLength(1);
    const other = runWith({ retry: { maxRetries: 1, maxElapsed: { seconds: 600n } } });
    outage(other, 3_600_000, { reason: "paused" });
    expect(other.end).toBe("error");
  });

  // Requirement: RES-2
  test.each(["paused", "not_configured"])(
    "counts no call of a provider that was not called: %s",
    (reason) => {
      const run = runWith({ budgets: { maxLlmCalls: 1 }, retry: { maxRetries: 1 } });
      outage(run, 120_000, { reason });
      outage(run, 3_600_000);
      expect(run.all("error")[0]?.message).toContain("after 2 attempts");
      expect(run.all("costSummary")[0]).toMatchObject({ llmCalls: 2 });
      const answered = runWith({ budgets: { maxLlmCalls: 1 } });
      outage(answered, 120_000, { reason });
      answered.turn();
      expect(answered.end).toBe("completed");
      expect(answered.all("costSummary")[0]).toMatchObject({ llmCalls: 1 });
    },
  );

  test("does not wait for a missing provider in a tight loop", () => {
    const retry = { initialBackoff: { nanos: 1_000_000 }, maxBackoff: { nanos: 1_000_000 } };
    const delays = outage(runWith({ retry }), 10_000, { reason: "not_configured" });
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(1_000);
  });

  test("begins its attempts and its time when the missing provider is there", () => {
    const run = runWith({ retry: { maxRetries: 1, maxElapsed: { seconds: 60n } } });
    outage(run, 7_200_000, { reason: "not_configured" });
    expect(outage(run, 3_600_000, { reason: "rate_limited" })).toHaveLength(1);
    expect(run.end).toBe("error");
  });

  test("repeats a broken answer after other failures", () => {
    const run = runWith();
    outage(run, 60_000);
    expect(outage(run, 3_600_000, { reason: "malformed" })).toHaveLength(3);
  });

  test("asks only four times for a readable answer, because each is paid for", () => {
    const run = runWith();
    expect(outage(run, 3_600_000, { reason: "malformed" })).toHaveLength(3);
    expect(run.end).toBe("error");
  });
});

// Requirement: RES-2
test.each([
  ["invalid", "change the model"],
  ["unknown_model", "change the model"],
  ["no_credit", "add credit"],
  ["unauthenticated", "set a valid key"],
  ["refused", "the provider says refused"],
])(
  "a call that is refused as %s ends the run at once, with a message that says why: %s",
  (reason, why) => {
    const run = runWith().fails(reason);
    expect(run.end).toBe("error");
    expect(run.all("error")[0]?.message).toContain(why);
  },
);

test("a run shows why it waits for a model, and until when", () => {
  const run = runWith().fails("rate_limited", { ...passing, retryAfterMs: 3_000 });
  const { modelWait } = runOf(run.state.head);
  expect(modelWait).toMatchObject({ reason: "rate_limited", attempt: 1 });
  const until = modelWait?.until === undefined ? 0 : timestampMs(modelWait.until);
  expect(until - run.nowMs).toBe(waitOf(run));
  expect(runOf(run.retries().state.head).modelWait).toBeUndefined();
});
