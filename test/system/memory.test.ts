import { afterAll, beforeAll, expect, test } from "vitest";
import { openConnection } from "@reeve/client";
import type { Asked, Played, PlayingServer } from "../support/playing-server.ts";
import { startPlayingServer } from "../support/playing-server.ts";
import { Deployment } from "./support/deployment.ts";
import { watchToEnd } from "./support/watching.ts";

/** Remembers what the user asks it to, and answers with its memories. */
function play({ messages }: Asked): Played {
  const last = messages.at(-1);
  const fact = /remember that (.*)/.exec(last?.text ?? "")?.[1];
  if (last?.role === "user" && fact !== undefined) {
    return { calls: [{ name: "remember", args: { text: fact } }] };
  }
  return { text: last?.text ?? "" };
}

let models: PlayingServer;
let deployment: Deployment;

beforeAll(async () => {
  models = await startPlayingServer(play);
  deployment = await Deployment.start({
    OPENAI_API_KEY: "k",
    OPENAI_BASE_URL: models.url,
    REEVE_TOKENS: "test-token-0123456789=acme/tester,other-token-0123456789=acme/other",
  });
  await deployment.agent("friend", { model: "openai:played" });
});

afterAll(async () => {
  await deployment[Symbol.asyncDispose]();
  await models[Symbol.asyncDispose]();
});

async function ask(input: string, memoryEnabled: boolean): Promise<string> {
  const request = { agentId: "friend", input, memoryEnabled };
  const { run } = await deployment.reeve.runs.startRun(request);
  await watchToEnd(deployment, run?.runId ?? "");
  return (await deployment.reeve.runs.getRun({ runId: run?.runId ?? "" })).run?.output ?? "";
}

// Requirement: CHAT-3
test("a run receives the relevant memories of the same user's earlier runs, if its request enables memory", async () => {
  await ask("remember that she plays the cello", true);
  const { memories } = await deployment.reeve.memories.listMemories({});
  expect(memories).toMatchObject([{ text: "she plays the cello" }]);
  expect(await ask("Which instrument is a cello?", true)).toContain('"she plays the cello"');
  expect(await ask("Which instrument is a cello?", false)).not.toContain("she plays");
  expect(await ask("What is the capital of France?", true)).not.toContain("cello");
});

test("other users can neither see nor delete a memory", async () => {
  using other = openConnection({ address: deployment.url, token: "other-token-0123456789" });
  const { memory } = await deployment.reeve.memories.createMemory({ text: "has a secret" });
  expect((await other.memories.listMemories({})).memories).toEqual([]);
  const { memories } = await other.memories.recallMemories({ query: "secret" });
  expect(memories).toEqual([]);
  const memoryId = memory?.memoryId ?? "";
  await expect(other.memories.deleteMemory({ memoryId })).rejects.toThrow(/memory .* not found/);
  await deployment.reeve.memories.deleteMemory({ memoryId });
});
