import { afterAll, beforeAll, expect, test } from "vitest";
import type { Connection } from "@reeve/client";
import { openConnection } from "@reeve/client";
import type { RunEvent } from "@reeve/contracts/run";
import { EventFamily } from "@reeve/contracts/run";
import { smallPdf } from "@reeve/knowledge/test/small-pdf";
import type { Asked, Played, PlayingServer } from "../support/playing-server.ts";
import { startPlayingServer } from "../support/playing-server.ts";
import { Deployment } from "./support/deployment.ts";
import { watchToEnd } from "./support/watching.ts";

/** Remembers what the user asks it to, and answers with its memories. */
function play({ messages }: Asked): Played {
  const last = messages.at(-1);
  const topic = /^search for (\w+)/.exec(last?.text ?? "")?.[1];
  if (last?.role === "user" && topic !== undefined) {
    return { calls: [{ name: "search_knowledge", args: { query: topic } }] };
  }
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

test("other users see no memory in the events, the tree, or the log of a run", async () => {
  using other = openConnection({ address: deployment.url, token: "other-token-0123456789" });
  const start = async (input: string) => {
    const request = { agentId: "friend", input, memoryEnabled: true };
    const { run } = await deployment.reeve.runs.startRun(request);
    await watchToEnd(deployment, run?.runId ?? "");
    return run?.runId ?? "";
  };
  const fact = "the canary is violet";
  const remembering = await start(`remember that ${fact}`);
  const recalling = await start("Which canary is violet?");
  const [own, foreign] = [deployment.reeve, other];
  expect(await shownTo(own, recalling)).toMatchObject({
    recalled: [expect.stringContaining(fact)],
  });
  expect(await shownTo(foreign, recalling)).toMatchObject({ recalled: [] });
  const whole = await shownTo(own, remembering);
  expect(whole).toMatchObject({ args: [{ text: fact }], turns: [true, true] });
  expect(whole.results).toEqual([expect.stringContaining("remembered as")]);
  expect(whole.previews.join()).toContain(fact);
  expect(await shownTo(foreign, remembering)).toEqual({
    recalled: [],
    args: [undefined],
    results: ["[a memory of another user]"],
    turns: [false, false],
    previews: ["", "[a memory of another user]"],
  });
  const exported = await Array.fromAsync(own.runs.exportRunLog({ runId: remembering }));
  expect(exported.length).toBeGreaterThan(0);
  await expect(Array.fromAsync(foreign.runs.exportRunLog({ runId: remembering }))).rejects.toThrow(
    /has the memories of its user, tester; nobody else may export its log/,
  );
});

/** Returns what a client sees of the memories in a run. */
async function shownTo({ runs }: Connection, runId: string) {
  const families = [EventFamily.RECORD, EventFamily.TOOL_CALL, EventFamily.TOOL_RESULT];
  const selection = { case: "families", value: { families } } as const;
  const events: RunEvent["event"][] = [];
  for await (const part of runs.watchRun({ runId, selection })) {
    events.push(...part.events.map(({ event }) => event));
  }
  const { tree } = await runs.getExecutionTree({ runId });
  return {
    recalled: events.flatMap((each) => (each.case === "runPrepared" ? each.value.recalled : [])),
    args: events.flatMap((each) => (each.case === "toolCall" ? [each.value.arguments] : [])),
    results: events.flatMap((each) =>
      each.case === "toolResult" ? [each.value.result?.content] : [],
    ),
    turns: events.flatMap((each) =>
      each.case === "modelTurn" ? [each.value.messageJson.length > 0] : [],
    ),
    previews: (tree?.nodes ?? []).flatMap((node) => [node.argsPreview, node.resultPreview]),
  };
}

// Requirement: CHAT-3
test("a run cites a PDF and Markdown of its collections by page and line, and nobody else sees a private one", async () => {
  using other = openConnection({ address: deployment.url, token: "other-token-0123456789" });
  const { knowledge, runs } = deployment.reeve;
  await knowledge.createCollection({ collectionId: "handbook", readers: ["tester"] });
  const pdf = smallPdf([
    ["Travel", "Book trains."],
    ["Flights", "Long flights: business class."],
  ]);
  const markdown = Buffer.from("# Leave\n\nThirty days of vacation.\n");
  for (const [name, value] of [
    ["travel.pdf", pdf],
    ["staff/leave.md", new Uint8Array(markdown)],
  ] as const) {
    const source = { case: "content", value } as const;
    await knowledge.addDocument({ collectionId: "handbook", name, source });
  }
  const start = { agentId: "friend", input: "search for flights", collections: ["handbook"] };
  await expect(other.runs.startRun(start)).rejects.toThrow(/collection handbook not found/);
  const { run } = await runs.startRun(start);
  const runId = run?.runId ?? "";
  await watchToEnd(deployment, runId);
  const { run: ended } = await runs.getRun({ runId });
  expect(ended?.output).toContain("[handbook/travel.pdf, page 2, lines 1-2]");
  expect(await citedIn(deployment.reeve, runId)).toMatchObject([
    { documentName: "travel.pdf", page: 2, firstLine: 1, lastLine: 2 },
    { documentName: "travel.pdf", page: 2, firstLine: 1, lastLine: 2 },
  ]);
  expect(await citedIn(other, runId)).toEqual([]);
  const asked = { ...start, input: "vacation?" };
  const recalling = (await runs.startRun(asked)).run?.runId ?? "";
  await watchToEnd(deployment, recalling);
  expect(await citedIn(deployment.reeve, recalling)).toMatchObject([
    { documentName: "staff/leave.md", page: 0, firstLine: 1, lastLine: 3 },
  ]);
});

/** Returns the passages that a client sees in a run: those of its start, then those of its searches. */
async function citedIn({ runs }: Connection, runId: string) {
  const families = [EventFamily.RECORD, EventFamily.TOOL_RESULT];
  const selection = { case: "families", value: { families } } as const;
  const passages = [];
  for await (const { events } of runs.watchRun({ runId, selection })) {
    for (const { event } of events) {
      if (event.case === "runPrepared") passages.push(...event.value.passages);
      if (event.case === "toolResult") passages.push(...(event.value.result?.citations ?? []));
    }
  }
  return passages;
}

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
