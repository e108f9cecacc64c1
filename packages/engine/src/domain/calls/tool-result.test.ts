import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { ApprovalState } from "@reeve/contracts/approval";
import { ApprovalStatus, ToolStatus } from "@reeve/contracts/tool";
import { expect, test } from "vitest";
import { PlayedRun, subtask } from "../../../test/support/run-player.ts";

const ms = (time: Timestamp | undefined) => (time === undefined ? undefined : timestampMs(time));
const timesOf = (run: PlayedRun) =>
  run.all("toolResult").map(({ result }) => {
    const { startedAt, completedAt, executionTimeMs } = result?.metadata ?? {};
    return [ms(startedAt), ms(completedAt), executionTimeMs];
  });

// Requirement: META-2
test("each call has its own times, not those of its turn", () => {
  const run = new PlayedRun({ budgets: { maxParallel: 1 } });
  run.nowMs = 10_000;
  run.turn({ name: "search" }, { name: "search" });
  const startedAt = run.nowMs;
  run.nowMs += 500;
  run.result(0);
  run.nowMs += 2_000;
  run.result(1);
  // The result has the time of the event before it; the second call starts with the result of the first.
  const [first, second] = timesOf(run);
  expect(first?.[0]).toBe(startedAt);
  expect(second?.[0]).toBeGreaterThanOrEqual(startedAt + 500);
  expect(second?.[2]).toBe((second?.[1] ?? 0) - (second?.[0] ?? 0));
});

test("the time for which a person decides is no part of the duration of a call", () => {
  const run = new PlayedRun({ hitlTools: ["search"] }).turn({ name: "search" });
  run.nowMs += 3_600_000;
  const approval = run.all("approval").at(-1)?.approval;
  if (approval === undefined) throw new Error("the call needs no approval");
  const decided = { ...approval, state: ApprovalState.APPROVED };
  run.write({ case: "approval", value: { approval: decided } });
  run.nowMs += 500;
  run.result(0);
  const [durationMs = 0] = run.all("toolResult").map((value) => value.durationMs);
  expect(durationMs).toBeGreaterThanOrEqual(500);
  expect(durationMs).toBeLessThan(3_600_000);
});

// Requirement: META-1
test("a call that never executed has no execution time, and needed no approval", () => {
  const run = new PlayedRun().turn({ name: "nothing" });
  expect(run.all("toolResult")).toMatchObject([
    {
      success: false,
      error: expect.stringContaining("there is no tool"),
      result: {
        isError: true,
        metadata: {
          status: ToolStatus.ERROR,
          executionTimeMs: 0,
          approvalStatus: ApprovalStatus.NOT_REQUIRED,
          approvalId: "",
        },
      },
    },
  ]);
});

test("a call of a subtask lasts as long as the subtask", () => {
  const run = new PlayedRun().turn(subtask("a"));
  const [child = ""] = run.subtasks;
  run.nowMs += 5_000;
  run.says("done", child).turnIn(child);
  expect(timesOf(run)[0]?.[2]).toBeGreaterThanOrEqual(5_000);
});

// Requirement: CHAT-4
test("the tree has a node for each call, below the subtask that made it", () => {
  const run = new PlayedRun().turn(subtask("part a"), { name: "search", args: { q: "b" } });
  const [child = ""] = run.subtasks;
  run.turnIn(child, [{ name: "search" }]).result(0, "y".repeat(900), child);
  run.says("a", child).turnIn(child).result(1, "found b").says("ab").turn();
  const nodes = run.all("treeStored")[0]?.tree?.nodes ?? [];
  expect(nodes).toMatchObject([
    { id: child, parentId: "", name: "run_subtask", title: "part a", resultPreview: "a" },
    { parentId: "", name: "search", argsPreview: `{"q":"b"}`, resultPreview: "found b" },
    { parentId: child, name: "search", resultPreview: "y".repeat(500) },
  ]);
});

test("the tree of a stopped run shows what is unfinished", () => {
  const run = new PlayedRun({ budgets: { maxLlmCalls: 2 } }).turn(subtask("a"));
  run.turnIn(run.subtasks[0] ?? "", [{ name: "nothing" }]);
  expect(run.end).toBe("error");
  expect(run.all("treeStored")[0]?.tree?.nodes).toMatchObject([
    { name: "run_subtask", unfinished: true },
    { name: "nothing", isError: true },
  ]);
});
