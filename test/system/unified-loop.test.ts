import type { RunEvent } from "@reeve/contracts/run";
import { treeAfter, treeOf } from "@reeve/run/tree/execution-tree";
import type { TreeChanges } from "@reeve/run/tree/execution-tree";
import type { ExecutionTree } from "@reeve/contracts/thread";
import { RunStatus } from "@reeve/contracts/run";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Asked, Played, PlayingServer } from "../support/playing-server.ts";
import { startPlayingServer } from "../support/playing-server.ts";
import { describeUnifiedChat, playChat } from "./parts/unified-chat.ts";
import { Deployment } from "./support/deployment.ts";
import { expectCompleted, watchToEnd } from "./support/watching.ts";

const release = "Is version 2.0 ready to be released?";

/** Returns the number of answers in this conversation. */
const turnsOf = ({ messages }: Asked) => messages.filter(({ role }) => role === "assistant").length;
const resultsOf = ({ messages }: Asked) =>
  messages.filter(({ role }) => role === "tool").map(({ text }) => text);

const call = (name: string, args: object): Played => ({ calls: [{ name, args }] });

const findingsSchema = {
  type: "object",
  properties: {
    findings: { type: "array", items: { type: "string" }, minItems: 1 },
    risk: { enum: ["low", "high"] },
  },
  required: ["findings", "risk"],
};

/** A release manager: plans, investigates the release with subtasks, measures it, and answers. */
function play(asked: Asked): Played {
  const input = asked.messages[0]?.text ?? "";
  if (asked.system.includes("older part of a conversation")) {
    return { text: "The investigation found a low risk; the measurement printed 120 kB." };
  }
  if (asked.system.includes("Before the work")) {
    return { text: '{"steps": ["Have the release investigated", "Measure it", "Decide"]}' };
  }
  if (input.startsWith("Investigate")) return investigator(asked);
  if (input.startsWith("Read the changelog")) return reader(asked);
  if (input.startsWith("Count")) return { text: "There are 42 changes." };
  if (input.startsWith("Check the dependencies")) {
    return { fails: { status: 400, message: "the question cannot be served" } };
  }
  return manager(asked);
}

function manager(asked: Asked): Played {
  const results = resultsOf(asked);
  if (asked.messages.some(({ text }) => text.includes("summary of the conversation"))) {
    return { text: "Version 2.0 is ready." };
  }
  switch (results.length) {
    case 0:
      return call("run_subtask", {
        title: "Investigate",
        instructions: "Investigate the changes of version 2.0.",
        output_schema: findingsSchema,
      });
    case 1:
      return call("execute_code", { code: "print('measured ' * 15000)" });
    default: {
      const id = /art_[a-z0-9]+/.exec(results[1] ?? "")?.[0] ?? "none";
      return {
        ...call("retrieve_artifact", { artifact_id: id, offset: 100_000, limit: 50 }),
        inputTokens: 60_000,
      };
    }
  }
}

function investigator(asked: Asked): Played {
  switch (turnsOf(asked)) {
    case 0:
      return call("run_parallel_subtasks", {
        jobs: [{ task: "Read the changelog." }, { task: "Check the dependencies." }],
      });
    case 1:
      return call("finish_subtask", { findings: "42 changes" });
    case 2:
      return call("finish_subtask", { findings: [], risk: "none" });
    default:
      return call("finish_subtask", { findings: ["42 changes"], risk: "low" });
  }
}

function reader(asked: Asked): Played {
  return turnsOf(asked) === 0
    ? call("run_subtask", { title: "Count", instructions: "Count the changes." })
    : { text: `The reader says: ${resultsOf(asked).join()}` };
}

/** Builds the tree from the events, as a watcher does. */
function watchedTree(events: readonly RunEvent[]): ExecutionTree {
  return treeOf(events.reduce<TreeChanges>(treeAfter, undefined));
}

let models: PlayingServer;
let deployment: Deployment;

beforeAll(async () => {
  models = await startPlayingServer((asked) => playChat(asked) ?? play(asked));
  deployment = await Deployment.start({
    OPENAI_API_KEY: "sk-test",
    OPENAI_BASE_URL: models.url,
  });
  await deployment.agent("chat", { model: "openai:played" });
});

afterAll(async () => {
  await deployment[Symbol.asyncDispose]();
  await models[Symbol.asyncDispose]();
});

describe("a chat", () => {
  describeUnifiedChat(() => deployment);
});

// Requirement: SUB-6, META-2, META-4, LOOP-1, CHAT-4
test("a realistic task: three levels of subtasks, one failure, schema retries, a large result, and a compaction", async () => {
  const { agents, runs } = deployment.reeve;
  await agents.createAgent({
    spec: {
      id: "release-manager",
      name: "Release manager",
      model: "openai:played",
      instructions: "You decide about releases.",
      planningEnabled: true,
      allowParallelSubagents: true,
      permissionClasses: ["execute"],
      contextPolicy: { compactAtTokens: 50_000 },
    },
  });
  const { run } = await runs.startRun({ agentId: "release-manager", input: release });
  const runId = run?.runId ?? "";
  const events = await watchToEnd(deployment, runId);

  expectCompleted(events);
  const { run: ended } = await runs.getRun({ runId });
  expect(ended).toMatchObject({ status: RunStatus.COMPLETED, output: "Version 2.0 is ready." });
  expect(ended?.cost).toMatchObject({ subtasks: 4 });

  const kinds = events.map(({ event }) => event.case);
  expect(kinds.indexOf("plan")).toBeLessThan(kinds.indexOf("step"));
  expect(Math.max(...events.map(({ depth }) => depth))).toBe(3);
  const failed = events.filter(({ event }) => event.case === "subtask" && event.value.isError);
  expect(failed).toHaveLength(1);

  const results = events.flatMap(({ event }) =>
    event.case === "toolResult" && event.value.result !== undefined ? [event.value] : [],
  );
  const finishes = results.filter(({ result }) => result?.name === "finish_subtask");
  expect(finishes.map(({ success }) => success)).toEqual([false, false, true]);
  const parallel = results.find(({ result }) => result?.name === "run_parallel_subtasks");
  expect(JSON.parse(parallel?.result?.content ?? "")).toMatchObject([
    { index: 0, status: "success", result: "The reader says: There are 42 changes." },
    { index: 1, status: "error", error: { error: "provider_refused" } },
  ]);
  const investigation = results.find(
    ({ result }) => result?.name === "run_subtask" && result.structured,
  );
  expect(investigation?.result?.structured).toEqual({ findings: ["42 changes"], risk: "low" });
  const measured = results.find(({ result }) => result?.name === "execute_code");
  expect(measured?.result?.metadata?.offloadedArtifactId).toMatch(/^art_/);
  const retrieved = results.find(({ result }) => result?.name === "retrieve_artifact");
  expect(retrieved).toMatchObject({ success: true });
  expect(retrieved?.result?.content).toContain("bytes 100000 to 100050 of");
  const context = events.find(({ event }) => event.case === "context");
  expect(context?.event.value).toMatchObject({ summary: expect.stringContaining("low risk") });

  const stored = events.find(({ event }) => event.case === "treeStored")?.event;
  const { tree } = await runs.getExecutionTree({ runId });
  expect(stored?.case === "treeStored" && stored.value.tree).toEqual(tree);
  expect(watchedTree(events)).toEqual(tree);
  expect(tree?.nodes.map(({ name, parentId }) => [name, depthOf(tree, parentId)])).toEqual([
    ["run_subtask", 0],
    ["run_parallel_subtasks", 1],
    ["subtask", 2],
    ["subtask", 2],
    ["run_subtask", 3],
    ["finish_subtask", 1],
    ["finish_subtask", 1],
    ["finish_subtask", 1],
    ["execute_code", 0],
    ["retrieve_artifact", 0],
  ]);
});

function depthOf(tree: ExecutionTree, parentId: string): number {
  const parent = tree.nodes.find(({ id }) => id === parentId);
  return parent === undefined ? 0 : depthOf(tree, parent.parentId) + 1;
}
