import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { AgentSpecSchema } from "@reeve/contracts/agent";
import { RunStatus } from "@reeve/contracts/run";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Asked, Played, PlayingServer } from "../support/playing-server.ts";
import { startPlayingServer } from "../support/playing-server.ts";
import { Deployment } from "./support/deployment.ts";
import { expectGapless, watchToEnd } from "./support/watching.ts";

/** Never ends: each turn answers with text, a memory call, and a subtask. */
function play({ messages }: Asked): Played {
  if (messages[0]?.text === "a part") return { text: "The part is done." };
  return {
    text: "I continue. ",
    calls: [
      { name: "memory_write", args: { key: "k", value: "x".repeat(500) } },
      { name: "memory_read", args: { key: "k" } },
      { name: "run_subtask", args: { title: "part", instructions: "a part" } },
    ],
    inputTokens: 1_000,
  };
}

let models: PlayingServer;
let deployment: Deployment;

const registry = `
models:
  - id: priced
    provider: openai
    upstream_name: played
    context_window: 1000000
    max_output_tokens: 1000
    pricing: { input_usd_per_million: 10, output_usd_per_million: 10 }
`;

beforeAll(async () => {
  models = await startPlayingServer(play);
  deployment = await Deployment.start(
    { OPENAI_API_KEY: "k", OPENAI_BASE_URL: models.url },
    { REEVE_MODELS: registry },
  );
});

afterAll(async () => {
  await deployment[Symbol.asyncDispose]();
  await models[Symbol.asyncDispose]();
});

type Budgets = NonNullable<MessageInitShape<typeof AgentSpecSchema>["budgets"]>;

const budgets: readonly (readonly [reason: string, budgets: Budgets])[] = [
  ["subtasks", { maxSubtasks: 1 }],
  ["llm_calls", { maxLlmCalls: 3 }],
  ["tool_calls", { maxToolCalls: 4 }],
  ["wall_clock", { maxWallClock: { nanos: 1_000_000 } }],
  ["tokens", { maxTotalTokens: 1_500 }],
  ["bytes", { maxTotalBytes: 700 }],
  ["cost", { maxCostUsd: 0.15 }],
];

async function exhausted(id: string, spec: MessageInitShape<typeof AgentSpecSchema>) {
  await deployment.agent(id, { model: "priced", ...spec });
  const { run } = await deployment.reeve.runs.startRun({ agentId: id, input: "go" });
  const runId = run?.runId ?? "";
  const events = await watchToEnd(deployment, runId);
  expectGapless(events);
  const { run: ended } = await deployment.reeve.runs.getRun({ runId });
  const { tree } = await deployment.reeve.runs.getExecutionTree({ runId });
  return { events, ended, tree };
}

describe.each(budgets)("a run that exhausts its budget of %s", (reason, limits) => {
  // Requirement: TURN-3
  test("ends with that reason and keeps its output and its calls", async () => {
    const id = `spender-${reason.replace("_", "-")}`;
    const { events, ended, tree } = await exhausted(id, { budgets: limits });
    const kinds = events.map(({ event }) => event.case);
    expect(kinds.slice(-5)).toEqual([
      "budgetExceeded",
      "error",
      "costSummary",
      "treeStored",
      "status",
    ]);
    expect(events.at(-5)?.event.value).toMatchObject({ reason });
    expect(ended).toMatchObject({
      status: RunStatus.ERROR,
      output: "I continue. ",
      error: { reason: "budget_exceeded" },
    });
    expect(tree?.nodes.length).toBeGreaterThanOrEqual(3);
    const stored = events.at(-2)?.event;
    expect(stored?.case === "treeStored" && stored.value.tree).toEqual(tree);
  });
});

// Requirement: LOOP-6
test("a run that exhausts its rounds ends with that error and keeps its output and its calls", async () => {
  const { events, ended, tree } = await exhausted("rounds", { maxRounds: 2 });
  expect(events.map(({ event }) => event.case)).not.toContain("budgetExceeded");
  expect(ended).toMatchObject({ error: { reason: "iteration_limit" }, output: "I continue. " });
  expect(tree?.nodes).toHaveLength(6);
});

// Requirement: META-2, META-3
test("each call has its own start and end time, equal in its event and its record", async () => {
  const { events } = await exhausted("times", { maxRounds: 1 });
  const results = events.flatMap(({ event }) => (event.case === "toolResult" ? [event.value] : []));
  expect(results).toHaveLength(3);
  const spans = results.map(({ result, success, durationMs }) => {
    const { startedAt, completedAt } = result?.metadata ?? {};
    const from = startedAt === undefined ? 0 : timestampMs(startedAt);
    const to = completedAt === undefined ? 0 : timestampMs(completedAt);
    expect(success).toBe(result?.isError === false);
    expect(durationMs).toBeGreaterThanOrEqual(0);
    return [from, to] as const;
  });
  const [written = [0, 0], , subtask = [0, 0]] = spans;
  expect(subtask[1]).toBeGreaterThan(written[1]);
  expect(written[0]).toBeGreaterThan(0);
});
