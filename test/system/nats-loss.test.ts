import { fromJson } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import { failureFrom } from "@reeve/platform/rpc/connect-failure";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Deployment } from "./support/deployment.ts";
import {
  approve,
  eventOf,
  expectCompleted,
  firstCall,
  started,
  watchToEnd,
} from "./support/watching.ts";

let deployment: Deployment;

beforeAll(async () => {
  deployment = await Deployment.start();
  await deployment.agent("talk");
  const execute = { permissionClasses: ["execute"] };
  const deepAgent = { allowedImports: fromJson(ListValueSchema, ["time", "pathlib"]) };
  await deployment.agent("sleep", { ...execute, deepAgent });
  await deployment.agent("note", { ...execute, deepAgent });
  await deployment.agent("publish", { ...execute, deepAgent, hitlTools: ["publish_report"] });
});

afterAll(async () => {
  await deployment[Symbol.asyncDispose]();
});

async function startRun(agentId: string, input: string): Promise<string> {
  const { run } = await deployment.reeve.runs.startRun({ agentId, input });
  return run?.runId ?? "";
}

describe("a run whose NATS server is killed and started again", () => {
  test("while its model streams, ends and is watched without a gap", async () => {
    const runId = await startRun("talk", "talk");
    const watched = watchToEnd(deployment, runId);
    await eventOf(deployment, runId, "text");
    await deployment.killNats();
    await deployment.startNats();
    expectCompleted(await watched);
  });

  test("during a call in the sandbox, ends and executes the call once", async () => {
    const runId = await startRun("note", "1.5");
    const watched = watchToEnd(deployment, runId);
    await started(deployment, runId, await firstCall(deployment, runId));
    await deployment.killNats();
    await deployment.startNats();
    const events = await watched;
    expectCompleted(events);
    const results = events.filter(({ event }) => event.case === "toolResult");
    // Each execution adds a line to a file of the workspace, and returns how many it has.
    const content = expect.stringContaining("1 note");
    expect(results.map(({ event }) => event.value)).toMatchObject([
      { success: true, result: { content } },
    ]);
  });

  test("while it waits for an approval, continues after the decision", async () => {
    const runId = await startRun("publish", "publish");
    const watched = watchToEnd(deployment, runId);
    await eventOf(deployment, runId, "runParked");
    await deployment.killNats();
    await deployment.startNats();
    await approve(deployment, runId);
    expectCompleted(await watched);
  });
});

test("while the store is unavailable, a request fails as unavailable with a hint, and later requests succeed", async () => {
  await deployment.killNats();
  const refused = await deployment.reeve.runs
    .getRun({ runId: "run_aaaaaaaaaaaaaaaaaaaaaaaaaa" }, { timeoutMs: 30_000 })
    .catch(failureFrom);
  expect(refused).toMatchObject({
    kind: "unavailable",
    message: expect.stringContaining("try again"),
  });
  await deployment.startNats();
  await expect.poll(() => startRun("talk", "talk"), { timeout: 20_000 }).toMatch(/^run_/);
});

test("services that start before their store wait for it", async () => {
  const services = ["gateway", "runtime", "toolhost", "approvals"] as const;
  for (const name of services) await deployment.kill(name);
  await deployment.killNats();
  const starting = services.map((name) => deployment.start(name));
  await deployment.startNats();
  await Promise.all(starting);
  const runId = await startRun("sleep", "0");
  expectCompleted(await watchToEnd(deployment, runId));
});
