import { ApprovalState, GateKind } from "@reeve/contracts/approval";
import { describe, expect, test } from "vitest";
import { expectOrder } from "../../../test/support/event-order.ts";
import type { PlayedRun } from "../../../test/support/run-player.ts";
import { graph } from "../../../test/support/workflow/workflow-graph.ts";
import {
  answerOf,
  ends,
  errorOf,
  workflowRun,
} from "../../../test/support/workflow/workflow-run.ts";
import { nextEffects } from "../next-effects.ts";
import { timerDueMs, withoutFarTimers } from "../plugins/pending-timers.ts";

const input = { type: "input" };
const output = { type: "output" };
const search = { type: "tool:search" };

/** Expects an end in order, and returns how the run ended. */
function endOf(run: PlayedRun): string | undefined {
  expectOrder(run.events);
  return run.end;
}

describe("nodes that wait", () => {
  const asking = graph(
    {
      in: input,
      ask: { type: "approval", properties: { question: "Send it?" } },
      yes: search,
      no: search,
      out: output,
      refused: output,
    },
    "in -> ask",
    "ask.approved.value -> yes.q",
    "ask.rejected.decision -> no.q",
    "yes -> out",
    "no -> refused",
  );

  test("ask a person, and take the branch of the decision", () => {
    const run = workflowRun(asking, {}, "a letter");
    const [requested] = run.all("approval");
    expect(requested?.approval).toMatchObject({
      gates: [GateKind.WORKFLOW],
      call: { nodeId: "ask", arguments: { question: "Send it?", value: "a letter" } },
    });
    run.parks().decides(ApprovalState.APPROVED).claimedAnew();
    expect(run.all("toolCall").at(-1)).toMatchObject({
      nodeId: "yes",
      arguments: { q: "a letter" },
    });
    ends(run, "yes", { content: "sent" });
    expect([endOf(run), answerOf(run)]).toEqual(["completed", `{"out":"sent"}`]);
  });

  test.each([
    [ApprovalState.REJECTED, "rejected"],
    [ApprovalState.TIMED_OUT, "timed_out"],
  ])("take the other branch after the state %s", (state, decision) => {
    const run = workflowRun(asking).decides(state);
    expect(run.all("toolCall").at(-1)).toMatchObject({ nodeId: "no", arguments: { q: decision } });
  });

  test("wait for a time that the log has, while the run is parked", () => {
    const later = graph(
      { in: input, wait: { type: "delay", properties: { seconds: 90 } }, out: output },
      "in -> wait",
      "wait -> out",
    );
    const run = workflowRun(later, {}, "tea");
    const calledAtMs = run.frame().calls[0]?.requestedAtMs ?? 0;
    expect(timerDueMs(run.state)).toBe(calledAtMs + 90_000);
    expect(nextEffects(run.state)).toMatchObject([
      { kind: "wait_for_delay", dueAtMs: calledAtMs + 90_000 },
    ]);
    expect(withoutFarTimers(nextEffects(run.state), run.nowMs)).toEqual([]);
    run.claimedAnew();
    expect(timerDueMs(run.state)).toBe(calledAtMs + 90_000);
    ends(run, "wait", { content: "over" });
    expect([endOf(run), answerOf(run)]).toEqual(["completed", "tea"]);
  });

  test("do not hold up other branches", () => {
    const others = graph(
      { in: input, ask: { type: "approval", properties: { question: "?" } }, a: search, b: search },
      "in -> ask",
      "in -> a.q",
      "a -> b.q",
    );
    const run = workflowRun(others, { budgets: { maxParallel: 1 } });
    ends(run, "a", { content: "1" });
    expect(nextEffects(run.state)).toMatchObject([
      { kind: "call_tool", call: { call: { nodeId: "b" } } },
    ]);
  });

  test("start after their approval once those in progress leave a slot", () => {
    const agent = { type: "agent:finder" };
    const gated = graph({ in: input, p: search, a: agent }, "in -> p.q", "in -> a.prompt");
    const run = workflowRun(gated, { budgets: { maxParallel: 1 }, hitlTools: ["search"] });
    run.decides(ApprovalState.APPROVED);
    const [model] = nextEffects(run.state);
    expect(nextEffects(run.state)).toMatchObject([{ kind: "call_model" }]);
    run.says("found").turnIn(model?.frame ?? "");
    expect(nextEffects(run.state)).toMatchObject([{ call: { call: { nodeId: "p" } } }]);
  });

  test("are withdrawn when another node fails", () => {
    const failing = graph(
      { in: input, ask: { type: "approval", properties: { question: "?" } }, a: search },
      "in -> ask",
      "in -> a.q",
    );
    const run = ends(workflowRun(failing), "a", { content: "broken", isError: true });
    expect([endOf(run), errorOf(run)]).toEqual(["error", `node "a" failed: broken`]);
    expect(run.all("approval").at(-1)?.approval?.state).toBe(ApprovalState.WITHDRAWN);
  });
});
