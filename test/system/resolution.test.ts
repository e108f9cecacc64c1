import { afterAll, beforeAll, expect, test } from "vitest";
import type { PlayingServer } from "../support/playing-server.ts";
import { startPlayingServer } from "../support/playing-server.ts";
import { Deployment } from "./support/deployment.ts";
import { approve, eventOf, expectCompleted, watchToEnd } from "./support/watching.ts";

const model = "openai:any";
let models: PlayingServer;
let deployment: Deployment;

beforeAll(async () => {
  models = await startPlayingServer(({ messages }) =>
    messages.at(-1)?.role === "tool"
      ? { calls: [{ name: "finish_subtask", args: { total: 4 } }] }
      : { calls: [{ name: "list_files", args: {} }] },
  );
  deployment = await Deployment.start({ OPENAI_API_KEY: "k", OPENAI_BASE_URL: models.url });
});

afterAll(async () => {
  await deployment[Symbol.asyncDispose]();
  await models[Symbol.asyncDispose]();
});

/** Returns the names of the tools whose calls a person decides on. */
const asked = (tools: readonly { readonly name: string; readonly calls: string }[] = []) =>
  tools.filter(({ calls }) => calls === "ask").map(({ name }) => name);

// Requirement: RES-1, RES-11, SUB-6
test("a run keeps its plan while its agent changes and is deleted, and gives a typed answer", async () => {
  const { agents, runs } = deployment.reeve;
  const outputSchema = { type: "object", properties: { total: { type: "integer" } } };
  await deployment.agent("counter", { model, hitlTools: ["list_files"] });
  const explained = await agents.explainAgent({ agentId: "counter" });
  const { run } = await runs.startRun({ agentId: "counter", input: "count", outputSchema });
  const runId = run?.runId ?? "";
  await eventOf(deployment, runId, "runParked");
  const spec = { id: "counter", name: "counter", model, excludedTools: ["list_files"] };
  await agents.updateAgent({ spec });
  await agents.deleteAgent({ agentId: "counter" });
  await approve(deployment, runId);
  expectCompleted(await watchToEnd(deployment, runId));

  const { run: ended, plan } = await runs.getRun({ runId, includePlan: true });
  expect(ended).toMatchObject({
    agentRevision: 1,
    output: '{"total":4}',
    structuredOutput: { total: 4 },
  });
  expect(ended?.planHash).toBe(plan?.hash);
  // `explain` shows the tools of long-term memory too, which this run does not have.
  expect(asked(plan?.tools)).toEqual(["list_files"]);
  expect(asked(explained.plan?.tools)).toEqual(["list_files"]);
  const listFiles = plan?.tools.find(({ name }) => name === "list_files");
  expect(listFiles).toEqual(explained.plan?.tools.find(({ name }) => name === "list_files"));
});
