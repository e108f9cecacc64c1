import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { RunStatus } from "@reeve/contracts/run";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Deployment } from "./support/deployment.ts";
import { eventOf, watchToEnd } from "./support/watching.ts";

const progressServer = join(
  import.meta.dirname,
  "../../services/toolhost/test/support/progress-server.ts",
);
const resources = new AsyncDisposableStack();
let deployment: Deployment;
/** A second pool: its host has sandboxes too, and another MCP server. */
let far: Readonly<Record<string, string>>;

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), "reeve-pools-test-"));
  resources.defer(() => rm(folder, { recursive: true, force: true }));
  const program = { command: process.execPath, args: [progressServer], sandbox: false };
  const path = join(folder, "far.json");
  await writeFile(path, JSON.stringify({ servers: { far: program } }));
  far = { REEVE_POOL: "gpu", REEVE_MCP_CONFIG: path };
  deployment = resources.use(await Deployment.start());
  await deployment.start("toolhost-2", far);
  const spec = { permissionClasses: ["execute"], mcpServers: ["far"] };
  await deployment.agent("pools", spec);
  await deployment.agent("pools-gpu", {
    ...spec,
    model: "scripted:pools",
    deepAgent: { pool: "gpu" },
  });
});

afterAll(() => resources.disposeAsync());

async function start(agentId = "pools"): Promise<string> {
  const { run } = await deployment.reeve.runs.startRun({ agentId, input: "go" });
  return run?.runId ?? "";
}

/** Returns the sorted results of a run's calls, after its end. */
async function resultsOf(runId: string): Promise<readonly string[]> {
  const events = await watchToEnd(deployment, runId);
  expect(events.at(-1)?.event.value).toMatchObject({ status: RunStatus.COMPLETED });
  return events
    .flatMap(({ event }) =>
      event.case === "toolResult" ? [event.value.result?.content ?? ""] : [],
    )
    .toSorted();
}

const all = ["4 bytes written to note.txt", 'found: "reeve"', "kept"];

// Requirement: HOST-4
test("a run uses tools of two pools", async () => {
  expect(await resultsOf(await start())).toEqual(all);
});

// Requirement: HOST-4
test("an agent that names a pool has its files there", async () => {
  const runId = await start("pools-gpu");
  expect(await resultsOf(runId)).toEqual(all);
  const events = await watchToEnd(deployment, runId);
  const tools = events.flatMap(({ event }) =>
    event.case === "runPrepared" ? event.value.tools : [],
  );
  expect(tools).toContainEqual(expect.objectContaining({ name: "write_file", pool: "gpu" }));
});

// Requirement: HOST-4
test("a pool without toolhosts still lists its tools, and a call waits for a toolhost", async () => {
  expect(await deployment.end("toolhost-2")).toBe(0);
  const { tools } = await deployment.reeve.tools.listTools({});
  expect(tools.filter(({ pool }) => pool === "gpu").map(({ name }) => name)).toContain(
    "mcp__far__search",
  );
  const names = tools.map(({ name }) => name);
  expect(names).toEqual([...new Set(names)]);
  const runId = await start();
  await eventOf(deployment, runId, "toolResult");
  await deployment.start("toolhost-2", far);
  expect(await resultsOf(runId)).toEqual(all);
});
