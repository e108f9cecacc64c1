import { describe, expect, test } from "vitest";
import { nextEffects } from "./next-effects.ts";
import { PlayedRun } from "../../test/support/run-player.ts";
import { expectOrder } from "../../test/support/event-order.ts";

describe("a model that does not answer", () => {
  test("is called again after a delay when a retry may succeed", () => {
    const run = new PlayedRun().says("par");
    run.write({ case: "modelCallFailed", value: { reason: "unavailable", retryable: true } });
    expect(run.trace.at(-1)).toBe("textVoided");
    expect(nextEffects(run.state)).toMatchObject([{ kind: "wait_to_retry", delayMs: 500 }]);
  });

  test("ends the run after a permanent failure", () => {
    const run = new PlayedRun();
    run.write({ case: "modelCallFailed", value: { reason: "invalid", message: "no such model" } });
    expect(run.clientTrace.slice(-3)).toEqual([
      "error:provider_refused",
      "costSummary",
      "status:error",
    ]);
  });

  // Requirement: EVT-1
  test("is called again at once by a new owner, and the streamed text is voided", () => {
    const run = new PlayedRun().says("half an ans").claimedAnew();
    expect(run.trace.slice(-3)).toEqual(["runClaimed", "textVoided", "modelCallStarted"]);
    const voided = run.events.find(({ event }) => event.case === "textVoided");
    const text = run.events.find(({ event }) => event.case === "text");
    expect(voided?.event.value).toMatchObject({ firstSequence: text?.sequence });
    expect(nextEffects(run.state)).toMatchObject([{ kind: "call_model", call: { attempt: 2 } }]);
  });

  // Requirement: RES-2
  test("is called four times, each time after twice the delay", () => {
    const run = new PlayedRun();
    const waits: number[] = [];
    for (let more = 10; run.end === undefined && more > 0; more--) {
      run.fails("unavailable", { retryable: true });
      for (const effect of nextEffects(run.state)) {
        if (effect.kind === "wait_to_retry") waits.push(effect.delayMs);
      }
      if (run.end === undefined) run.retries();
    }
    expect(waits).toEqual([500, 1_000, 2_000]);
    expect(run.clientTrace).toContain("error:provider_failed");
    expect(run.all("error")[0]?.message).toContain("after 4 attempts");
  });

  test("keeps all its retries when workers die during its attempts", () => {
    const run = new PlayedRun().claimedAnew().claimedAnew().claimedAnew().claimedAnew();
    run.fails("unavailable", { retryable: true });
    expect(nextEffects(run.state)).toMatchObject([{ kind: "wait_to_retry", delayMs: 500 }]);
    expectOrder(run.retries().says("at last").turn().events);
  });

  // Requirement: RES-2
  test("waits as long as the provider asks", () => {
    const run = new PlayedRun();
    const retryAfter = { seconds: 7n };
    const value = { reason: "rate_limited", message: "", retryable: true, retryAfter };
    run.write({ case: "modelCallFailed", value });
    expect(nextEffects(run.state)).toMatchObject([{ kind: "wait_to_retry", delayMs: 7_000 }]);
  });

  test("stops a run after ten lost workers in a row", () => {
    const run = new PlayedRun();
    for (let more = 50; run.end === undefined && more > 0; more--) run.claimedAnew();
    expect(run.end).toBe("error");
    expect(run.clientTrace).toContain("error:worker_lost");
    expect(run.state.head.claim?.epoch).toBe(11);
  });
});

test("a run whose workers are lost while they stream ends by its budget of model calls", () => {
  const run = new PlayedRun({ budgets: { maxLlmCalls: 20 } });
  for (let more = 50; run.end === undefined && more > 0; more--) {
    run.says("hello").claimedAnew();
  }
  expect(run.clientTrace).toContain("error:budget_exceeded");
  expect(run.state.head.claim?.epoch).toBe(21);
});
