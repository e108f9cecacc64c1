import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { hostname } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as wait } from "node:timers/promises";
import type { ClientTool, ServeToolsOptions } from "@reeve/client";
import { connect } from "@reeve/client";
import { ClientCallState, RunStatus } from "@reeve/contracts/run";
import { openRunLog } from "@reeve/jetstream/log/open";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Asked, Played, PlayingServer } from "../support/playing-server.ts";
import { startPlayingServer } from "../support/playing-server.ts";
import { pythonWithClient } from "../clients/support/python-client.ts";
import { Deployment } from "./support/deployment.ts";
import { eventOf, watchToEnd } from "./support/watching.ts";

/** Calls the tool that the last message of the user names, and answers with its result. */
function play({ messages }: Asked): Played {
  const last = messages.at(-1);
  if (last?.role !== "user") return { text: `The client says: ${last?.text ?? ""}` };
  return { calls: last.text.split(" ").map((name) => ({ name, args: { for: name } })) };
}

let models: PlayingServer;
let deployment: Deployment;

beforeAll(async () => {
  models = await startPlayingServer(play);
  deployment = await Deployment.start({ OPENAI_API_KEY: "k", OPENAI_BASE_URL: models.url });
  await deployment.start("gateway-2");
  await deployment.agent("helper", { model: "openai:played" });
});

afterAll(async () => {
  await deployment[Symbol.asyncDispose]();
  await models[Symbol.asyncDispose]();
});

/** A client that serves tools until it is disposed, through one of the gateways. */
async function serving(
  tools: readonly ClientTool[],
  { url = deployment.url, ...options }: ServeToolsOptions & { readonly url?: string },
) {
  const reeve = connect({ address: url, token: deployment.token, reconnectTimeoutMs: 120_000 });
  const end = new AbortController();
  const { promise: ready, resolve } = Promise.withResolvers<readonly string[]>();
  const served = reeve.serveTools(tools, { ...options, signal: end.signal, onReady: resolve });
  const ended = served.then(
    () => "ended",
    (error: unknown) => (end.signal.aborted ? "left" : error),
  );
  await Promise.race([ready, ended]);
  return {
    ready,
    ended,
    async [Symbol.asyncDispose]() {
      end.abort();
      await ended;
      reeve.close();
    },
  };
}

/** A Python program that offers the tool `machine_name` to a thread until it is disposed. */
async function servingInPython(threadId: string) {
  const program = join(import.meta.dirname, "../../examples/browser-tools/tools.py");
  const env = { ...process.env, REEVE_URL: deployment.url, REEVE_TOKEN: deployment.token };
  const child = spawn(await pythonWithClient(), ["-u", program, threadId], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  await Promise.race([once(child.stdout, "data"), exited]);
  return {
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

function tool(
  name: string,
  execute: ClientTool["execute"],
  more: Partial<ClientTool> = {},
): ClientTool {
  const inputSchema = { type: "object", properties: { for: { type: "string" } } };
  return { name, description: name, inputSchema, execute, ...more };
}

/** Starts a run through a gateway, which knows at once what its own streams offer. Default: the first one. */
async function start(
  threadId: string,
  input: string,
  { runs } = deployment.reeve,
): Promise<string> {
  const { run } = await runs.startRun({
    agentId: "helper",
    input,
    threadId,
    requestId: randomUUID(),
  });
  return run?.runId ?? "";
}

async function outputOf(runId: string): Promise<string> {
  await watchToEnd(deployment, runId);
  const { run } = await deployment.reeve.runs.getRun({ runId });
  expect(run?.status).toBe(RunStatus.COMPLETED);
  return run?.output ?? "";
}

/** Returns the states of the calls of clients in the log of a run, by call. */
async function statesOf(runId: string): Promise<readonly (readonly ClientCallState[])[]> {
  const log = await openRunLog(deployment.nats);
  const { events } = await log.read(
    { tenant: "acme", run: runId },
    { sequence: 0, revision: 0, digest: "" },
    new AbortController().signal,
  );
  const changes = events.flatMap(({ event }) => (event.case === "clientCall" ? [event.value] : []));
  return [...Map.groupBy(changes, ({ callId }) => callId).values()].map((each) =>
    each.map(({ state }) => state),
  );
}

const { OPEN, TAKEN, ANSWERED, EXPIRED } = ClientCallState;

// Requirement: CHAT-8
test("two clients serve the same thread through two gateways, and each call goes to one of them", async () => {
  const executed: string[] = [];
  const shared = (by: string) =>
    tool("shared", () => {
      executed.push(by);
      return by;
    });
  await using page = await serving([shared("page")], { threadId: "two", clientId: "page" });
  await using script = await serving([shared("script"), tool("own", () => ({ ok: true }))], {
    threadId: "two",
    clientId: "script",
    url: deployment.secondUrl,
  });
  expect([await page.ready, await script.ready]).toEqual([[], []]);
  const runId = await start("two", "shared own shared", deployment.second);
  expect(await outputOf(runId)).toMatch(/page|script/);
  expect(executed).toHaveLength(2);
  expect(await statesOf(runId)).toEqual([
    [OPEN, TAKEN, ANSWERED],
    [OPEN, TAKEN, ANSWERED],
    [OPEN, TAKEN, ANSWERED],
  ]);
});

test("no call of a client in TypeScript or Python is lost or executed twice while gateway and runtime are killed", async () => {
  const executed: string[] = [];
  const isAsked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<string>();
  const slow = tool("slow", (_, { callId }) => {
    executed.push(callId);
    isAsked.resolve();
    return answer.promise;
  });
  await using clients = new AsyncDisposableStack();
  clients.use(await serving([slow], { threadId: "kills", clientId: "page" }));
  clients.use(await servingInPython("kills"));
  const runId = await start("kills", "machine_name slow");
  await isAsked.promise;
  // The peer takes over what the killed runtime owned.
  await deployment.start("runtime-2");
  await Promise.all([deployment.kill("gateway"), deployment.kill("runtime")]);
  answer.resolve("done");
  await deployment.start("gateway");
  expect(await outputOf(runId)).toBe("The client says: done");
  expect(executed).toHaveLength(1);
  expect(await outputOf(await start("kills", "machine_name"))).toBe(
    `The client says: ${hostname()}`,
  );
  expect(await statesOf(runId)).toEqual([
    [OPEN, TAKEN, ANSWERED],
    [OPEN, TAKEN, ANSWERED],
  ]);
});

test("a client that was restarted receives its call again, and another client does not", async () => {
  const isAsked = Promise.withResolvers<void>();
  const hangs = tool("hangs", () => (isAsked.resolve(), new Promise<string>(() => undefined)));
  const first = await serving([hangs], { threadId: "restarts", clientId: "page" });
  const runId = await start("restarts", "hangs");
  await isAsked.promise;
  await first[Symbol.asyncDispose]();
  const wrong = tool("hangs", () => "another client");
  await using other = await serving([wrong], { threadId: "restarts", clientId: "other" });
  await other.ready;
  const right = tool("hangs", (_, { isRepeated }) => `repeated: ${isRepeated}`);
  await using again = await serving([right], { threadId: "restarts", clientId: "page" });
  await again.ready;
  expect(await outputOf(runId)).toBe("The client says: repeated: true");
});

test("a call whose client stays away becomes a tool error at its deadline", async () => {
  const brief = tool("brief", () => "never", { timeoutMs: 1_000 });
  const client = await serving([brief], { threadId: "away", clientId: "page" });
  await client[Symbol.asyncDispose]();
  const runId = await start("away", "brief");
  expect(await outputOf(runId)).toContain("no client that offers brief took the call in time");
  expect(await statesOf(runId)).toEqual([[OPEN, EXPIRED]]);
});

test("a run parks while a person answers, and is woken at the deadline", async () => {
  const person = { answeredByPerson: true, timeoutMs: 2_000 };
  const asked = tool("person", () => new Promise<string>(() => undefined), person);
  await using page = await serving([asked], { threadId: "person", clientId: "page" });
  await page.ready;
  const runId = await start("person", "person");
  const parked = await eventOf(deployment, runId, "runParked");
  expect(parked.event.value).toMatchObject({ waitingFor: [] });
  expect(await outputOf(runId)).toContain("did not answer in time");
  expect(await statesOf(runId)).toEqual([[OPEN, TAKEN, EXPIRED]]);
});

test("an answer that the schema forbids becomes a tool error, without a wait for the deadline", async () => {
  const outputSchema = {
    type: "object",
    properties: { color: { type: "string" } },
    required: ["color"],
  };
  const wrong = tool("wrong", () => ({ color: 7 }), { outputSchema });
  await using page = await serving([wrong], { threadId: "wrong", clientId: "page" });
  await page.ready;
  expect(await outputOf(await start("wrong", "wrong"))).toContain(
    "structured.color must be string",
  );
});

test("the tools of one run are those of its request, and its client ends with it", async () => {
  const reeve = connect({ address: deployment.url, token: deployment.token });
  const own = tool("own", () => "mine");
  const clientTools = {
    clientId: "page",
    tools: [{ name: own.name, description: own.description, inputSchema: own.inputSchema ?? {} }],
  };
  const run = await reeve.startRun({ agentId: "helper", input: "own", clientTools });
  const client = await serving([own], { runId: run.runId, clientId: "page" });
  expect(await client.ready).toEqual([]);
  expect(await outputOf(run.runId)).toBe("The client says: mine");
  await Promise.race([client.ended, wait(5_000)]);
  expect(await client.ended).toBe("ended");
  reeve.close();
});
