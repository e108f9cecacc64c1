import { ApprovalState } from "@reeve/contracts/approval";
import { expect, test } from "vitest";
import { PlayedRun } from "../../../test/support/run-player.ts";
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

function remoteOf(run: PlayedRun) {
  const { modelCall } = run.frame();
  return modelCall && modelRequest(run.state, run.frame(), modelCall).remote;
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
  });
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
