import { create } from "@bufbuild/protobuf";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Approval, ReviewUsageSchema } from "@reeve/contracts/approval";
import { ApprovalReviewSchema, ApprovalSchema, ApprovalState } from "@reeve/contracts/approval";
import { describe, expect, test } from "vitest";
import { PlayedRun, subtask } from "../../../test/support/run-player.ts";
import { nextEffects, openWaits } from "../next-effects.ts";

type Usage = Omit<MessageInitShape<typeof ReviewUsageSchema>, "$typeName" | "$unknown">;
const tools = [{ name: "search" }, { name: "read" }];
const reviewed = { hitlTools: ["search"], approvalPolicy: { reviewer: { rubric: "too far?" } } };

/** The ids of the calls that are reviewed, and the models that are called. */
const effects = (run: PlayedRun) =>
  nextEffects(run.state).flatMap(({ id, kind }) =>
    kind === "review_call" || kind === "call_model" ? [id.replace(/^model:.*/, "model")] : [],
  );
const latest = (run: PlayedRun, id = ""): Approval => {
  const found = run.all("approval").findLast(({ approval }) => approval?.approvalId === id);
  if (found?.approval === undefined) throw new Error(`there is no approval ${id}`);
  return found.approval;
};

/** The review of an approval ends. */
function ends(run: PlayedRun, id = openWaits(run.state)[0], usage?: Usage): PlayedRun {
  const { ...approval } = latest(run, id);
  const revision = approval.revision + 1;
  const given = usage === undefined ? { problem: "no" } : { usage };
  const review = create(ApprovalReviewSchema, { ...given, revision });
  const value = { approval: create(ApprovalSchema, { ...approval, revision, review }) };
  return run.write({ case: "approval", value });
}

describe("the reviews of a run", () => {
  test("are made one at a time, in the order of the requests", () => {
    const run = new PlayedRun(reviewed, { tools }).turn(
      { name: "search" },
      { name: "search" },
      { name: "search" },
    );
    const [a = "", b = "", c = ""] = openWaits(run.state);
    expect(effects(run)).toEqual([`review:${a}`]);
    ends(run);
    expect(effects(run)).toEqual([`review:${b}`]);
    run.decides(ApprovalState.REJECTED, { callId: b });
    expect(effects(run)).toEqual([`review:${c}`]);
    expect(effects(ends(run, c))).toEqual([]);
  });

  test("are not interrupted by a later call of a frame that began earlier", () => {
    const run = new PlayedRun(reviewed, { tools }).turn(subtask("a"), subtask("b"));
    const [a = "", b = ""] = run.subtasks;
    run.turnIn(b, [{ name: "search" }]);
    const [first = ""] = openWaits(run.state);
    run.turnIn(a, [{ name: "search" }]);
    expect(effects(run)).toEqual([`review:${first}`]);
  });

  test("count before they end: the model call for which too little may be left waits for them", () => {
    const run = new PlayedRun({ ...reviewed, budgets: { maxLlmCalls: 4 } }, { tools });
    run.turn(subtask("a"), subtask("b"));
    const [a = "", b = ""] = run.subtasks;
    run
      .turnIn(a, [{ name: "search" }])
      .turnIn(b, [{ name: "read" }])
      .result(0, "text", b);
    const [waiting = ""] = openWaits(run.state);
    expect(run.end).toBeUndefined();
    expect(effects(run)).toEqual([`review:${waiting}`]);
    ends(run);
    expect(effects(run)).toEqual(["model"]);
  });
});

describe("what a review has used", () => {
  const used = { inputTokens: 1_000, outputTokens: 40 };

  test("refuses no call that waits for a person, or that one has approved", () => {
    const run = new PlayedRun({ ...reviewed, budgets: { maxTotalTokens: 20 } }, { tools });
    run.turn({ name: "search" });
    const [waiting = ""] = openWaits(run.state);
    ends(run, waiting, used);
    expect(run.all("toolResult")).toEqual([]);
    expect(openWaits(run.state)).toEqual([waiting]);
    run.decides(ApprovalState.APPROVED);
    expect(run.all("toolCallStarted")).toHaveLength(1);
    // It counts for the next model call.
    expect(run.result(0).all("budgetExceeded")).toMatchObject([{ reason: "tokens" }]);
  });

  test("refuses no call for its cost", () => {
    const pricing = { inputUsdPerMillion: 1, outputUsdPerMillion: 1 };
    const prepared = { model: { id: "m", maxOutputTokens: 10, pricing } };
    const run = new PlayedRun({ ...reviewed, budgets: { maxCostUsd: 1 } }, { tools, prepared });
    run.turn({ name: "search" });
    const waits = openWaits(run.state);
    ends(run, waits[0], { ...used, costUsd: 2 });
    expect(openWaits(run.state)).toEqual(waits);
  });

  test("does not permit calls beyond what the run itself has used", () => {
    const run = new PlayedRun({ ...reviewed, budgets: { maxTotalTokens: 20 } }, { tools });
    run.turn(subtask("a"), subtask("b"));
    const [a = "", b = ""] = run.subtasks;
    run.turnIn(a, [{ name: "search" }], { inputTokens: 1, outputTokens: 0 });
    ends(run, openWaits(run.state)[0], used);
    run.turnIn(b, [{ name: "read" }], { inputTokens: 5, outputTokens: 0 });
    expect(run.all("toolResult").map(({ success }) => success)).toContain(false);
  });
});
