import { fromJson } from "@bufbuild/protobuf";
import { ListValueSchema, ValueSchema } from "@bufbuild/protobuf/wkt";
import { RunStatus } from "@reeve/contracts/run";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ModelServer } from "../support/model-server.ts";
import { startModelServer } from "../support/model-server.ts";
import { Deployment } from "./support/deployment.ts";
import { approve, eventOf, watchToEnd } from "./support/watching.ts";

let server: ModelServer;
let deployment: Deployment;

beforeAll(async () => {
  server = await startModelServer();
  const { origin } = new URL(server.url);
  const registry = `
stored_providers:
  origins: ["${origin}"]
  secrets: { lab: { api_key: "\${LAB_KEY}", origins: ["${origin}"] } }
`;
  deployment = await Deployment.start(
    { LAB_KEY: "key-of-the-lab", REEVE_AUDIT_TENANT: "acme" },
    { REEVE_MODELS: registry },
  );
  const provider = { providerId: "lab", baseUrl: server.url, secret: "lab" };
  await deployment.reeve.models.applyModelRegistry({
    providers: [provider],
    models: [
      { id: "plain", provider: "lab", upstreamName: "text:3" },
      { id: "calling", provider: "lab", upstreamName: "tool-once" },
    ],
  });
});

afterAll(async () => {
  await deployment[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

function listOf(...names: readonly string[]) {
  return fromJson(ListValueSchema, [...names]);
}

async function start(agentId: string): Promise<string> {
  const { run } = await deployment.reeve.runs.startRun({ agentId, input: "go" });
  return run?.runId ?? "";
}

async function runOf(runId: string) {
  return (await deployment.reeve.runs.getRun({ runId })).run;
}

// Requirement: CFG-18
test("a model that was stored a moment ago answers a run, with the operator's key", async () => {
  await deployment.agent("writer", { model: "plain" });
  const runId = await start("writer");
  await watchToEnd(deployment, runId);
  expect(await runOf(runId)).toMatchObject({ status: RunStatus.COMPLETED });
  const seen = await server.request(1);
  expect(seen.headers.authorization).toBe("Bearer key-of-the-lab");
  expect(seen.body.model).toBe("text:3");
});

test("a run that waits keeps its model, and fails by name once the provider is deleted", async () => {
  const { models } = deployment.reeve;
  await deployment.agent("asker", {
    model: "calling",
    allowedTools: listOf("list_files"),
    hitlTools: ["list_files"],
    sections: { retry: fromJson(ValueSchema, { max_retries: 0 }) },
  });
  const kept = await start("asker");
  const lost = await start("asker");
  for (const runId of [kept, lost]) await eventOf(deployment, runId, "runParked");
  await models.putModel({ model: { id: "calling", provider: "lab", upstreamName: "gone" } });
  await approve(deployment, kept);
  await watchToEnd(deployment, kept);
  expect(await runOf(kept)).toMatchObject({ status: RunStatus.COMPLETED });
  await models.applyModelRegistry({ prune: true });
  await approve(deployment, lost);
  await watchToEnd(deployment, lost);
  expect(await runOf(lost)).toMatchObject({
    status: RunStatus.ERROR,
    error: expect.objectContaining({ message: expect.stringContaining("provider lab") }),
  });
  await expect(start("asker")).rejects.toThrow('model "calling" does not exist');
});
