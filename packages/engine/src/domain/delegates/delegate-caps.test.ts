import { create } from "@bufbuild/protobuf";
import type { Approval } from "@reeve/contracts/approval";
import {
  ApprovalReviewSchema,
  ApprovalSchema,
  ApprovalState,
  DecisionSchema,
} from "@reeve/contracts/approval";
import { expect, test } from "vitest";
import { ask, delegatingRun as played } from "../../../test/support/delegating-run.ts";
import { dueReviewSize } from "../budget/review-size.ts";
import { answerSize } from "../model/call-size.ts";
import { modelOf } from "../model/model-of.ts";
import { nextEffects } from "../next-effects.ts";

const pricing = { inputUsdPerMillion: 1, outputUsdPerMillion: 1_000 };
const model = { id: "f", maxOutputTokens: 100_000, pricing };

// Requirement: BUD-1
test("a limit on cost of a delegate alone bounds its answers", () => {
  const limits = { budgets: { maxCostUsd: 1 } };
  const run = played({}, { prepared: { model, limits } }).turn(ask("finder"));
  const unlimited = played({}, { prepared: { model } }).turn(ask("finder"));
  const size = answerSize(unlimited.state, unlimited.frame(unlimited.subtasks[0]));
  expect(size.maxOutputTokens).toBeUndefined();
  // An answer of 100,000 tokens may cost 100 USD.
  const frame = run.subtasks.map((id) => run.frame(id).modelCall);
  for (const call of frame) expect(call?.reservedUsd).toBeLessThanOrEqual(1);
  expect(run.subtasks.length === 0 || (frame[0]?.maxOutputTokens ?? Infinity) <= 1_000).toBe(true);
});

// Requirement: BUD-1
test("a delegate with a limit on cost ends when its own delegate has called a model without a price", () => {
  const limits = { budgets: { maxCostUsd: 5 } };
  const run = played({}, { prepared: { model, limits }, spec: { maxTokens: 20 } });
  run.turn(ask("finder"));
  const [finder = ""] = run.subtasks;
  run.turnIn(finder, [ask("checker")], { outputTokens: 20 });
  const [, checker = ""] = run.subtasks;
  run.says("Checked.", checker).turnIn(checker);
  expect(run.resultsSeen()[0]).toContain("may use 5 USD");
});

// Requirement: BUD-1
test("a delegate ends before a model call that may cost more than it has left", () => {
  const dear = { id: "f", maxOutputTokens: 100, pricing: { ...pricing, inputUsdPerMillion: 1e6 } };
  const limits = { budgets: { maxCostUsd: 0.001 } };
  const run = played({}, { prepared: { model: dear, limits } }).turn(ask("finder"));
  expect(run.all("modelCallStarted")).toHaveLength(2);
  expect(run.all("subtask").at(-1)).toMatchObject({ ended: true, error: "budget_exceeded" });
  expect(run.resultsSeen()[0]).toContain("may use 0.001 USD");
  expect(run.says("Without it.").turn().end).toBe("completed");
});

const nineSeconds = { budgets: { maxWallClock: { seconds: 9n } } };

// Requirement: BUD-2
test("a delegate works for the time that it states, from its start on, and the run continues", () => {
  const run = played({}, { spec: nineSeconds });
  run.nowMs += 30_000;
  run.turn(ask("finder"));
  const [finder = ""] = run.subtasks;
  run.nowMs += 8_000;
  run.turnIn(finder, [{ name: "search" }]).result(0, "found", finder);
  expect(run.subtasks.map((id) => run.frame(id).modelCall?.status)).toEqual(["in_progress"]);
  run.nowMs += 2_000;
  run.turnIn(finder, [{ name: "search" }]).result(0, "found", finder);
  expect(run.all("subtask").at(-1)).toMatchObject({ ended: true, error: "budget_exceeded" });
  expect(run.resultsSeen()[0]).toContain("may work for 9 s");
  expect(run.says("Without it.").turn().end).toBe("completed");
});

test("a delegate that states no time has that of its callers", () => {
  const run = played({ budgets: { maxWallClock: { seconds: 600n } } }).turn(ask("finder"));
  run.nowMs += 300_000;
  const [finder = ""] = run.subtasks;
  run.turnIn(finder, [{ name: "search" }]).result(0, "found", finder);
  expect(run.frame(finder).modelCall?.status).toBe("in_progress");
});

// Requirement: HITL-1
test("an approval names every delegate that takes part in the call", () => {
  const run = played({ hitlTools: ["fetch"] }).turn(ask("finder"));
  run.turnIn(run.subtasks[0] ?? "", [ask("checker")]);
  run.turnIn(run.subtasks[1] ?? "", [{ name: "fetch", args: { url: "u" } }]);
  expect(run.all("approval").at(-1)?.approval).toMatchObject({
    delegateId: "checker",
    callingDelegates: ["finder"],
  });
});

const reviewer = { rubric: "r" };

function reviewed() {
  const limits = { budgets: { maxLlmCalls: 2 } };
  const spec = { hitlTools: ["search"], approvalPolicy: { reviewer } };
  const run = played(spec, { prepared: { limits } }).turn(ask("finder"));
  const [id = ""] = run.subtasks;
  run.turnIn(id, [{ name: "search" }]);
  const effect = nextEffects(run.state).find(({ kind }) => kind === "review_call");
  return { run, id, effect };
}

test("the model of the agent of the run reviews the calls of a delegate", () => {
  const { run } = reviewed();
  const due = dueReviewSize(run.state);
  expect(due?.frame.id).toBe("");
  expect(due && modelOf(run.state, due.frame)?.id).not.toBe("f");
});

test("a review does not use the budget of a delegate", () => {
  const { run, id, effect } = reviewed();
  if (effect?.kind !== "review_call") throw new Error("there is no review");
  const { approval } = effect.call;
  const revision = (approval?.revision ?? 0) + 1;
  const usage = { inputTokens: 1, outputTokens: 1 };
  const review = create(ApprovalReviewSchema, { model: "m", advice: 1, revision, usage });
  const withReview = create(ApprovalSchema, { ...(approval as Approval), revision, review });
  const { scope } = effect;
  run.append([{ scope, event: { case: "approval", value: { approval: withReview } } }]);
  run.decides(ApprovalState.APPROVED).result(0, "found", id);
  run.says("Found.", id).turnIn(id);
  expect(run.resultsSeen()).toEqual(["Found."]);
});

// Requirement: HITL-2
test("a grant that a service of an earlier version applied to a call of a delegate does not start it", () => {
  const run = played({ hitlTools: ["search"] }).turn(ask("finder"));
  const [id = ""] = run.subtasks;
  run.turnIn(id, [{ name: "search" }]);
  const pending = run.all("approval").at(-1)?.approval as Approval;
  const appliedGrant = { grantId: "g" };
  const decision = create(DecisionSchema, { approved: true, decidedBy: "ann", appliedGrant });
  const approval = create(ApprovalSchema, { ...pending, state: ApprovalState.APPROVED, decision });
  run.write({ case: "approval", value: { approval } });
  expect(run.all("toolCallStarted")).toEqual([]);
  expect(run.resultsSeen(id)[0]).toContain("approved by a grant");
});
