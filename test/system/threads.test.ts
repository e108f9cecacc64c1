import { OnBusy, RunStatus } from "@reeve/contracts/run";
import { Role, TurnOutcome } from "@reeve/contracts/thread";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Asked, Played, PlayingServer } from "../support/playing-server.ts";
import { startPlayingServer } from "../support/playing-server.ts";
import { Deployment } from "./support/deployment.ts";
import { eventOf, watchToEnd } from "./support/watching.ts";

/** Makes a call when asked to, and answers with the number of messages that it sees. */
function play({ messages }: Asked): Played {
  const last = messages.at(-1);
  if (last?.role === "user" && last.text.startsWith("note")) {
    return { text: "Done.", calls: [{ name: "add_todo", args: { text: last.text } }] };
  }
  if (last?.text === "hang") return { text: "Half an ans", hangs: true };
  return { text: `I see ${messages.length} messages.` };
}

let models: PlayingServer;
let deployment: Deployment;

beforeAll(async () => {
  models = await startPlayingServer(play);
  deployment = await Deployment.start({ OPENAI_API_KEY: "k", OPENAI_BASE_URL: models.url });
  await deployment.agent("talker", { model: "openai:played" });
  await deployment.agent("asker", { model: "openai:played", hitlTools: ["add_todo"] });
});

afterAll(async () => {
  await deployment[Symbol.asyncDispose]();
  await models[Symbol.asyncDispose]();
});

async function start(threadId: string, input: string, more: object = {}): Promise<string> {
  const request = { agentId: "talker", input, threadId, ...more };
  const { run } = await deployment.reeve.runs.startRun(request);
  return run?.runId ?? "";
}

/** Resolves when the thread records the end of the turn, shortly after the end of its run. */
async function say(threadId: string, input: string): Promise<string> {
  const runId = await start(threadId, input);
  await watchToEnd(deployment, runId);
  return runId;
}

// Requirement: DUR-1, CHAT-3
test("a conversation continues: the model sees the earlier turns, with calls and results", async () => {
  const { reeve } = deployment;
  const first = await say("talk", "note that it rains");
  await say("talk", "how much do you see?");
  const { messages } = await reeve.threads.listThreadMessages({ threadId: "talk" });
  expect(messages.map(({ role, text }) => [role, text])).toEqual([
    [Role.USER, "note that it rains"],
    [Role.ASSISTANT, "I see 3 messages."],
    [Role.USER, "how much do you see?"],
    // The first input, the call, its result, the answer, and the second input.
    [Role.ASSISTANT, "I see 5 messages."],
  ]);
  expect(messages[1]).toMatchObject({
    runId: first,
    outcome: TurnOutcome.COMPLETED,
    executionTree: { nodes: [{ name: "add_todo", isError: false }] },
  });
  const { tree } = await reeve.runs.getExecutionTree({ runId: first });
  expect(messages[1]?.executionTree).toEqual(tree);
});

test("a queued run starts when the run before it has ended", async () => {
  const { reeve } = deployment;
  const first = await start("queue", "note this", { agentId: "asker" });
  await eventOf(deployment, first, "runParked");
  const second = await start("queue", "and?", { onBusy: OnBusy.QUEUE });
  const { thread } = await reeve.threads.getThread({ threadId: "queue" });
  expect(thread).toMatchObject({ activeRunId: first, queuedRunIds: [second] });
  const { approvals } = await reeve.approvals.listApprovals({ runId: first });
  await reeve.approvals.decideApproval({
    approvalId: approvals[0]?.approvalId ?? "",
    approved: false,
  });
  const events = await watchToEnd(deployment, second);
  expect(events.at(-1)?.event.value).toMatchObject({ status: RunStatus.COMPLETED });
});

test("a newer message can interrupt the active run, whose messages remain in the conversation", async () => {
  const first = await start("hurry", "note this", { agentId: "asker" });
  await eventOf(deployment, first, "runParked");
  const second = await start("hurry", "never mind", { onBusy: OnBusy.INTERRUPT });
  await watchToEnd(deployment, second);
  const { run } = await deployment.reeve.runs.getRun({ runId: first });
  expect(run?.status).toBe(RunStatus.CANCELLED);
  const asked = models.asked.at(-1)?.messages.map(({ role }) => role);
  // The call that was never approved gets a result.
  expect(asked).toEqual(["user", "assistant", "tool", "user"]);
});

test("a turn ends although the worker that would have ended it died", async () => {
  const first = await start("loss", "note this", { agentId: "asker" });
  await eventOf(deployment, first, "runParked");
  const second = await start("loss", "and?", { onBusy: OnBusy.QUEUE });
  await deployment.kill("runtime");
  await deployment.reeve.runs.cancelRun({ runId: first });
  await deployment.start("runtime");
  const events = await watchToEnd(deployment, second);
  expect(events.at(-1)?.event.value).toMatchObject({ status: RunStatus.COMPLETED });
});

test("the output of a cancelled run remains, and the next run sees it", async () => {
  const { reeve } = deployment;
  const first = await start("half", "hang");
  await eventOf(deployment, first, "text");
  await reeve.runs.cancelRun({ runId: first });
  await say("half", "go on");
  const asked = models.asked.at(-1)?.messages.map(({ role, text }) => [role, text]);
  expect(asked).toEqual([
    ["user", "hang"],
    ["assistant", "Half an ans"],
    ["user", "go on"],
  ]);
  const { messages } = await reeve.threads.listThreadMessages({ threadId: "half" });
  expect(messages[1]).toMatchObject({ text: "Half an ans", outcome: TurnOutcome.CANCELLED });
});
