import { fromJson } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import { RunStatus } from "@reeve/contracts/run";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Deployment } from "./support/deployment.ts";
import { approve, eventOf, expectGapless, firstCall, watchToEnd } from "./support/watching.ts";

let deployment: Deployment;

beforeAll(async () => {
  deployment = await Deployment.start();
  await deployment.agent("publish", {
    permissionClasses: ["execute"],
    hitlTools: ["publish_report"],
    deepAgent: { allowedImports: fromJson(ListValueSchema, ["time", "pathlib"]) },
  });
});

afterAll(async () => {
  await deployment[Symbol.asyncDispose]();
});

async function ask(subject: string): Promise<unknown> {
  return (await deployment.nats.connection.request(`$JS.API.STREAM.${subject}`)).json();
}

/** Purges a queue, as an operator might; no service is notified. */
async function purge(stream: string): Promise<void> {
  expect(await ask(`PURGE.${stream}`)).toMatchObject({ success: true, purged: 1 });
}

// Requirement: HOST-1
test("a run continues although its dispatch and its call were purged from their queues", async () => {
  await deployment.kill("runtime");
  const { run } = await deployment.reeve.runs.startRun({ agentId: "publish", input: "publish it" });
  const runId = run?.runId ?? "";
  const watched = watchToEnd(deployment, runId);
  await purge("DISPATCH");
  // No toolhost takes the call before the purge.
  await deployment.kill("toolhost");
  await deployment.start("runtime");
  await firstCall(deployment, runId);
  await eventOf(deployment, runId, "toolCallStarted");
  await expect
    .poll(() => ask("INFO.TOOL_CALLS"), { timeout: 30_000 })
    .toMatchObject({ state: { messages: 1 } });
  await purge("TOOL_CALLS");
  await deployment.start("toolhost");
  await approve(deployment, runId);
  const events = await watched;
  expectGapless(events);
  expect(events.at(-1)?.event).toMatchObject({ value: { status: RunStatus.COMPLETED } });
});
