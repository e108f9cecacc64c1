import { ApprovalState } from "@reeve/contracts/approval";
import { expect, test } from "vitest";
import { ask, delegatingRun } from "../../../test/support/delegating-run.ts";
import { PlayedRun } from "../../../test/support/run-player.ts";
import { openTasksOf } from "../../domain/delegates/open-remote-tasks.ts";
import { fact } from "../../domain/state/fact.ts";
import { scopeOf } from "../../domain/state/frame.ts";
import { modelRequest } from "./model-request.ts";

const model = { id: "a2a:https://x.example", provider: "a2a", upstreamName: "https://x.example" };

function played(): PlayedRun {
  return new PlayedRun(
    { model: "", endpoint: { url: "https://x.example" }, questions: {} },
    { tools: [{ name: "ask_user", source: "runtime" }], prepared: { model } },
  );
}

function accepts(run: PlayedRun, taskId: string): PlayedRun {
  const value = { taskId, contextId: "talk" };
  return run.append([fact(scopeOf(run.frame()), { case: "remoteTask", value })]);
}

function remoteOf(run: PlayedRun, nowMs = 0) {
  const { modelCall } = run.frame();
  return modelCall && modelRequest(run.state, run.frame(), modelCall, nowMs).remote;
}

// Requirement: RES-3
test("a worker that takes a run over continues with the task that the remote agent has accepted", () => {
  const run = played();
  const before = remoteOf(run);
  expect(before).toMatchObject({ taskId: "", contextId: "", isAccepted: false });
  const after = remoteOf(accepts(run, "task-1").claimedAnew());
  expect(after).toEqual({
    messageId: before?.messageId,
    taskId: "task-1",
    contextId: "talk",
    isAccepted: true,
    maxMs: expect.any(Number) as number,
  });
});

test("a remote agent may take as long as the run has left", () => {
  const run = played();
  const startMs = run.nowMs;
  expect(remoteOf(run, startMs + 1_000)?.maxMs).toBe((remoteOf(run, startMs)?.maxMs ?? 0) - 1_000);
  expect(remoteOf(run, startMs + 1e9)?.maxMs).toBe(0);
});

test("a worker that takes a run over before the task is known sends the same message again", () => {
  const run = played();
  const before = remoteOf(run);
  expect(remoteOf(run.claimedAnew())).toEqual(before);
});

test("the answer to a question is another message to the same task, and later messages begin another one", () => {
  const run = accepts(played(), "task-1");
  const first = remoteOf(run)?.messageId;
  run.turn({ name: "ask_user", args: { question: "Which color?" } });
  run.decides(ApprovalState.APPROVED, { answer: { answer: "green" } });
  const answering = remoteOf(run);
  expect(answering).toMatchObject({ taskId: "task-1", contextId: "talk", isAccepted: false });
  expect(answering?.messageId).not.toBe(first);
  expect(remoteOf(accepts(run, "task-1"))?.isAccepted).toBe(true);
  run.receivesMessage("And then?").says("Done.").turn();
  expect(remoteOf(run)).toMatchObject({ taskId: "", contextId: "talk", isAccepted: false });
});

// Requirement: CAN-3
test("the open task of a delegate is canceled also if the delegate has ended before the run", () => {
  const spec = { model: "", endpoint: { url: "https://x.example" }, budgets: nineSeconds };
  const run = delegatingRun({}, { spec }).turn(ask("finder"));
  const [finder = ""] = run.subtasks;
  const value = { taskId: "task-1", contextId: "talk" };
  run.append([fact(scopeOf(run.frame(finder)), { case: "remoteTask", value })]);
  const { modelCall } = run.frame(finder);
  const sent = modelCall && modelRequest(run.state, run.frame(finder), modelCall, run.nowMs);
  expect(sent?.remote?.maxMs ?? 9_000).toBeLessThanOrEqual(9_000);
  run.fails("refused", { id: finder });
  expect(run.state.frames.has(finder)).toBe(false);
  expect(openTasksOf(run.state)).toEqual([{ url: "https://x.example", taskId: "task-1" }]);
});

const nineSeconds = { maxWallClock: { seconds: 9n } };
