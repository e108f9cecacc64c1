import { OnBusy, RunStatus } from "@reeve/contracts/run";
import { Role, TurnOutcome } from "@reeve/contracts/thread";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Asked, Played, PlayingServer } from "../support/playing-server.ts";
import { startPlayingServer } from "../support/playing-server.ts";
import { Deployment } from "./support/deployment.ts";
import { eventOf, watchToEnd } from "./support/watching.ts";

/** Looks something up when it is asked to, and says how long the conversation is that it sees. */
function play({ messages }: Asked): Played {
  const last = messages.at(-1);
  if (last?.role === "user" && last.text.startsWith("note")) {
    return { text: "Noted.", calls: [{ name: "add_todo", args: { text: last.text } }] };
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

/** The turn is over when its thread says so; that is after the end of its run, and shortly. */
async function say(threadId: string, input: string): Promise<string> {
  const runId = await start(threadId, input);
  await watchToEnd(deployment, runId);
  return runId;
}

// Requirement: DUR-1, CHAT-3
test("a conversation goes on: the model sees the turns before, calls with their results", async () => {
  const { reeve } = deployment;
  const first = await say("talk", "note that it rains");
  await say("talk", "how much do you see?");
  const { messages } = await reeve.threads.listThreadMessages({ threadId: "talk" });
  expect(messages.map(({ role, text }) => [role, text])).toEqual([
    [Role.USER, "note that it rains"],
    [Role.ASSISTANT, "I see 3 messages."],
    [Role.USER, "how much do you see?"],
    // What was asked, the call, its result, the answer to that, and the question.
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

test("a run that waits for its turn begins by itself when the one before it has ended", async () => {
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

test("a newer message can end the run under way, whose part of the conversation stays", async () => {
  const first = await start("hurry", "note this", { agentId: "asker" });
  await eventOf(deployment, first, "runParked");
  const second = await start("hurry", "never mind", { onBusy: OnBusy.INTERRUPT });
  await watchToEnd(deployment, second);
  const { run } = await deployment.reeve.runs.getRun({ runId: first });
  expect(run?.status).toBe(RunStatus.CANCELLED);
  const asked = models.asked.at(-1)?.messages.map(({ role }) => role);
  // The call that nobody approved is closed with a result.
  expect(asked).toEqual(["user", "assistant", "tool", "user"]);
});

test("a turn survives the death of the worker that would have ended it", async () => {
  const first = await start("loss", "note this", { agentId: "asker" });
  await eventOf(deployment, first, "runParked");
  const second = await start("loss", "and?", { onBusy: OnBusy.QUEUE });
  await deployment.kill("runtime");
  await deployment.reeve.runs.cancelRun({ runId: first });
  await deployment.start("runtime");
  const events = await watchToEnd(deployment, second);
  expect(events.at(-1)?.event.value).toMatchObject({ status: RunStatus.COMPLETED });
});

test("what a cancelled run had said stays, and the next one reads it", async () => {
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
