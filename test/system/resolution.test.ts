import { afterAll, beforeAll, expect, test } from "vitest";
import type { Asked, Played, PlayingServer } from "../support/playing-server.ts";
import { startPlayingServer } from "../support/playing-server.ts";
import { Deployment } from "./support/deployment.ts";
import { approve, eventOf, expectCompleted, watchToEnd } from "./support/watching.ts";

const model = "openai:any";
let models: PlayingServer;
let deployment: Deployment;

const leads = "You lead.";
const finds = "You find things.";

/** An agent lists the files, and then answers. One that leads has a delegate do that. */
function play({ system, messages }: Asked): Played {
  const hasResult = messages.at(-1)?.role === "tool";
  if (system.includes(leads)) {
    return hasResult
      ? { text: "The finder found no files." }
      : { calls: [{ name: "agent_run_finder", args: { prompt: "Which files are there?" } }] };
  }
  if (!hasResult) return { calls: [{ name: "list_files", args: {} }] };
  return system.includes(finds)
    ? { text: "No files." }
    : { calls: [{ name: "finish_subtask", args: { total: 4 } }] };
}

beforeAll(async () => {
  models = await startPlayingServer(play);
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
  expect(asked(plan?.tools)).toEqual(["list_files"]);
  expect(asked(explained.plan?.tools)).toEqual(["list_files"]);
  const listFiles = plan?.tools.find(({ name }) => name === "list_files");
  expect(listFiles).toEqual(explained.plan?.tools.find(({ name }) => name === "list_files"));
});

// Requirement: RES-7, RES-11, DUR-3
test("a delegate that waits for an approval survives the loss of its runtime, and a change and the deletion of its agent", async () => {
  const { agents, runs } = deployment.reeve;
  await deployment.agent("finder", { model, instructions: finds, hitlTools: ["list_files"] });
  await deployment.agent("lead", { model, instructions: leads, delegates: ["finder"] });
  const { run } = await runs.startRun({ agentId: "lead", input: "go" });
  const runId = run?.runId ?? "";
  const { event } = await eventOf(deployment, runId, "approval");
  const approval = event.case === "approval" ? event.value.approval : undefined;
  expect(approval).toMatchObject({ agentId: "lead", delegateId: "finder" });
  await deployment.kill("runtime");
  const changed = { id: "finder", name: "finder", model: "openai:other" };
  await agents.updateAgent({ spec: { ...changed, excludedTools: ["list_files"] } });
  await agents.updateAgent({ spec: { id: "lead", name: "lead", model } });
  await agents.deleteAgent({ agentId: "finder" });
  await deployment.start("runtime");
  await approve(deployment, runId);
  expectCompleted(await watchToEnd(deployment, runId));

  const { run: ended, plan } = await runs.getRun({ runId, includePlan: true });
  expect(ended).toMatchObject({ output: "The finder found no files.", cost: { subtasks: 1 } });
  expect(plan?.delegates).toMatchObject([
    { agentId: "finder", revision: 1, models: [{ id: model }] },
  ]);
  expect(plan?.delegates[0]?.tools).toContain("list_files");
  // Nothing was asked or called twice.
  const requests = models.asked.filter(
    ({ system }) => system.includes(leads) || system.includes(finds),
  );
  expect(requests).toHaveLength(4);
  const { tree } = await runs.getExecutionTree({ runId });
  expect(tree?.nodes).toMatchObject([
    { name: "agent_run_finder", title: "finder: Which files are there?" },
    { name: "list_files" },
  ]);
});
