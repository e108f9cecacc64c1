import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fromJson } from "@bufbuild/protobuf";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import { failureFrom } from "@reeve/platform/rpc/connect-failure";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { PlayingServer } from "../support/playing-server.ts";
import { startPlayingServer } from "../support/playing-server.ts";
import { Deployment } from "./support/deployment.ts";
import { watchToEnd } from "./support/watching.ts";

const permissionClasses = ["execute"];
const answering = createServer((_, response) => void response.end("the answer"));
/** The model calls this tool with these arguments once, and then ends. */
let call: { readonly name: string; readonly args: object };
let models: PlayingServer;

beforeAll(async () => {
  models = await startPlayingServer(({ messages }) =>
    messages.at(-1)?.role === "tool" ? { text: "done" } : { calls: [call] },
  );
});

afterAll(() => models[Symbol.asyncDispose]());

function deploymentWith(settings: Readonly<Record<string, string>>): Promise<Deployment> {
  return Deployment.start({ OPENAI_API_KEY: "k", OPENAI_BASE_URL: models.url, ...settings });
}

/** Returns the result of a run's only call. */
async function resultOf(deployment: Deployment, agentId: string) {
  const { run } = await deployment.reeve.runs.startRun({ agentId, input: "go on" });
  const events = await watchToEnd(deployment, run?.runId ?? "");
  const result = events.map(({ event }) => event).find((event) => event.case === "toolResult");
  if (result?.case !== "toolResult" || result.value.result === undefined) {
    throw new Error("there is no result");
  }
  return result.value.result;
}

describe("an agent with allowed hosts", () => {
  let deployment: Deployment;
  let port = 0;

  beforeAll(async () => {
    answering.listen(0, "127.0.0.1");
    await once(answering, "listening");
    ({ port } = answering.address() as AddressInfo);
    deployment = await deploymentWith({
      REEVE_NETWORK_ALLOW: `*:${port}`,
      REEVE_NETWORK_RANGES: "127.0.0.1,::1",
    });
    const code = `
import os, urllib.request
for name in ("no_proxy", "NO_PROXY"): os.environ.pop(name, None)
urllib.request.urlopen("http://localhost:${port}/").read().decode()`;
    call = { name: "execute_code", args: { code } };
  });

  afterAll(async () => {
    await deployment[Symbol.asyncDispose]();
    answering.close();
  });

  const agent = (id: string, allow: readonly string[], classes: string[] = permissionClasses) =>
    deployment.agent(id, {
      model: "openai:played",
      permissionClasses: classes,
      deepAgent: {
        allowedImports: fromJson(ListValueSchema, ["os", "urllib.request"]),
        network: { allow: [...allow] },
      },
    });

  // Requirement: KIT-5, KIT-6
  test("can access them from its code", async () => {
    await agent("fetch", [`localhost:${port}`]);
    const { content } = await resultOf(deployment, "fetch");
    expect(JSON.parse(content)).toMatchObject({ success: true, result: "the answer" });
  });

  test("is refused with the field's name if the operator does not permit the hosts", async () => {
    const hosts = [`localhost:${port}`, "example.org:443"];
    const failure = await agent("greedy", hosts).catch(failureFrom);
    expect(failure?.violations).toMatchObject([
      { reason: "UNSUPPORTED_CAPABILITY", description: expect.stringContaining("example.org:443") },
    ]);
  });

  test("is refused with the field's name if a host is invalid or no tool could use it", async () => {
    const failure = await agent("wrong", ["example.org"], []).catch(failureFrom);
    expect(failure?.violations.map(({ field }) => field)).toEqual(
      expect.arrayContaining([
        expect.stringContaining("deep_agent.network.allow[0]") as string,
        expect.stringMatching(/deep_agent\.network\.allow$/) as string,
      ]),
    );
  });
});

describe("a deployment whose machines have no working sandbox", () => {
  let deployment: Deployment;

  beforeAll(async () => {
    const settings = { REEVE_SANDBOX: "docker", DOCKER_HOST: "unix:///nowhere/engine.sock" };
    deployment = await deploymentWith(settings);
  });

  afterAll(() => deployment[Symbol.asyncDispose]());

  test("runs agents that only use files", async () => {
    await deployment.agent("writer", { model: "openai:played" });
    call = { name: "write_file", args: { path: "a/b.txt", content: "text" } };
    const { content, metadata } = await resultOf(deployment, "writer");
    expect(content).toBe("4 bytes written to a/b.txt");
    expect(metadata?.isolation).toBe("files-only");
  });

  // Requirement: KIT-9
  test("refuses agents with the execute permission, and names the field", async () => {
    await deployment.agent("executor", { model: "openai:played", permissionClasses });
    const start = deployment.reeve.runs.startRun({ agentId: "executor", input: "go" });
    const failure = await start.then(() => undefined, failureFrom);
    expect(failure).toMatchObject({
      violations: [{ field: "permission_classes", reason: "UNSUPPORTED_CAPABILITY" }],
    });
  });
});
