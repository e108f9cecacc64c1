import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentCard, StreamResponse, Task } from "@a2a-js/sdk";
import { Role, TaskState, verifyAgentCardSignature } from "@a2a-js/sdk";
import type { Client } from "@a2a-js/sdk/client";
import {
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from "@a2a-js/sdk/client";
import type { JWK } from "jose";
import { LegacyJsonRpcTransport } from "@a2a-js/sdk/compat/v0_3/client";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Asked, Played, PlayingServer } from "../support/playing-server.ts";
import { startPlayingServer } from "../support/playing-server.ts";
import { describeRemoteAgents } from "./parts/remote-agents.ts";
import { Deployment } from "./support/deployment.ts";

/** Does what the last message of the user names, and then says what came of it. */
function play({ messages }: Asked): Played {
  const last = messages.at(-1);
  const result = last?.role === "tool" ? last.text : undefined;
  if (result !== undefined) return { text: `It says: ${result}` };
  const [verb, ...rest] = last?.text.split(" ") ?? [];
  switch (verb) {
    case "delegate":
      return { calls: [{ name: "agent_run_far", args: { prompt: rest.join(" ") } }] };
    case "write":
      return { calls: [{ name: "write_file", args: { path: "a.txt", content: "alpha" } }] };
    case "todo":
      return {
        text: "One moment.",
        calls: [{ name: "add_todo", args: { text: "buy milk" } }],
      };
    case "draw":
      return { calls: [{ name: "generate_image", args: { prompt: "a cat" } }] };
    case "ask":
      return { calls: [{ name: "ask_user", args: { question: "Which color?" } }] };
    case "hang":
      return { text: "Thinking", hangs: true };
    default:
      return { text: `You said: ${messages.map(({ text }) => text).join(" / ")}` };
  }
}

let models: PlayingServer;
let deployment: Deployment;

/** What push notifications have said. */
const pushed: { readonly token: unknown; readonly text: string }[] = [];
const receiver = createServer((request, response) => {
  void (async () => {
    let text = "";
    for await (const piece of request) text += String(piece);
    pushed.push({ token: request.headers["x-a2a-notification-token"], text });
    response.end();
  })();
});

beforeAll(async () => {
  receiver.listen(0, "127.0.0.1");
  await once(receiver, "listening");
  models = await startPlayingServer(play);
  deployment = await Deployment.start((port) => ({
    OPENAI_API_KEY: "k",
    OPENAI_BASE_URL: models.url,
    REEVE_TOKENS:
      "test-token-0123456789=acme/tester,viewer-token=acme/eve/viewer,bob-token=acme/bob",
    REEVE_PUBLIC_URL: `http://127.0.0.1:${port}`,
    REEVE_A2A_REMOTES: remotesFile(port),
    FAR_TOKEN: "test-token-0123456789",
    REEVE_A2A_CARD_KEY_FILE: cardKeyFile(),
    REEVE_A2A_PUSH: receiverUrl(),
    REEVE_A2A_PUSH_ADDRESSES: "127.0.0.1",
  }));
  const a2a = { enabled: true, description: "Does what it is told." };
  await deployment.agent("helper", {
    model: "openai:played",
    a2a,
    questions: {},
    hitlTools: ["write_file"],
    media: { imageModel: "openai:painter" },
  });
  await deployment.agent("hidden", { model: "openai:played" });
  await deployment.agent("far", { model: "", endpoint: endpointOf("helper") });
  await deployment.agent("lost", { model: "", endpoint: endpointOf("nobody") });
  await deployment.agent("lead", { model: "openai:played", delegates: ["far"] });
});

function cardKeyFile(): string {
  const path = join(folder, "card.pem");
  const { privateKey } = generateKeyPairSync("ed25519");
  writeFileSync(path, privateKey.export({ type: "pkcs8", format: "pem" }));
  return path;
}

function receiverUrl(): string {
  // A TCP listener has an address and a port.
  return `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hooks`;
}

const endpointOf = (agent: string) => ({ url: addressOf(agent), protocol: "a2a" });

/** Permits the runtime to call the agents of its own deployment, which is on this host. */
function remotesFile(port: number): string {
  const path = join(folder, "remotes.yaml");
  const here = `{ name: here, url: "http://127.0.0.1:${port}/a2a/agents/", token_env: FAR_TOKEN, allow_addresses: [127.0.0.1] }`;
  writeFileSync(path, `remotes:\n  - ${here}\n`);
  return path;
}

const folder = mkdtempSync(join(tmpdir(), "reeve-a2a-"));

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await deployment[Symbol.asyncDispose]();
  await models[Symbol.asyncDispose]();
  receiver.close();
});

const addressOf = (agent: string) => `${deployment.url}/a2a/agents/${agent}/`;

/** The client of the A2A project, which sends a token with each request. */
function clientFor(agent: string, binding = "JSONRPC", token = deployment.token): Promise<Client> {
  const fetchImpl: typeof fetch = (url, init) => {
    const headers = new Headers(init?.headers);
    headers.set("authorization", `Bearer ${token}`);
    return fetch(url, { ...init, headers });
  };
  const factory = new ClientFactory(
    ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
      transports: [
        new JsonRpcTransportFactory({ fetchImpl }),
        new RestTransportFactory({ fetchImpl }),
      ],
      preferredTransports: [binding],
      cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
    }),
  );
  return factory.createFromUrl(addressOf(agent), ".well-known/agent-card.json");
}

/** Posts a request of JSON-RPC, and returns the answer. */
async function post(request: string | object): Promise<unknown> {
  const body =
    typeof request === "string" ? request : JSON.stringify({ jsonrpc: "2.0", id: 1, ...request });
  const headers = {
    authorization: `Bearer ${deployment.token}`,
    "content-type": "application/json",
  };
  const answer = await fetch(addressOf("helper"), { method: "POST", headers, body });
  return await answer.json();
}

let sent = 0;

function message(content: string | object, ids: { contextId?: string; taskId?: string } = {}) {
  sent += 1;
  const part =
    typeof content === "string"
      ? ({ $case: "text", value: content } as const)
      : ({ $case: "data", value: content } as const);
  return {
    tenant: "",
    configuration: undefined,
    metadata: undefined,
    message: {
      messageId: `message-${sent}`,
      contextId: ids.contextId ?? "",
      taskId: ids.taskId ?? "",
      role: Role.ROLE_USER,
      parts: [{ content: part, metadata: undefined, filename: "", mediaType: "" }],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    },
  };
}

function taskIn(result: object): Task {
  if (!("status" in result)) throw new Error("the agent answered with a message");
  // A result is a task or a message.
  return result as Task;
}

const answerOf = ({ artifacts }: Task) => {
  const content = artifacts.find(({ artifactId }) => artifactId === "answer")?.parts[0]?.content;
  return content?.value as unknown;
};

async function collect(stream: AsyncIterable<StreamResponse>): Promise<StreamResponse[]> {
  const all: StreamResponse[] = [];
  for await (const event of stream) all.push(event);
  return all;
}

/** Returns what a client that follows the updates of a task has of its answer in the end. */
function assembled(events: readonly StreamResponse[]): string {
  let text = "";
  for (const { payload } of events) {
    // A task that is fast has its answer before it is streamed.
    const isTask = payload?.$case === "task";
    if (!isTask && payload?.$case !== "artifactUpdate") continue;
    const artifact = isTask ? payload.value.artifacts[0] : payload.value.artifact;
    const content = artifact?.parts[0]?.content;
    const piece = content?.$case === "text" ? content.value : "";
    text = !isTask && payload.value.append ? text + piece : piece;
  }
  return text;
}

function statesIn(events: readonly StreamResponse[]): readonly (TaskState | undefined)[] {
  return events.flatMap(({ payload }) =>
    payload?.$case === "task" || payload?.$case === "statusUpdate"
      ? [payload.value.status?.state]
      : [],
  );
}

describe.each(["JSONRPC", "HTTP+JSON"])("the client of the A2A project over %s", (binding) => {
  test("reads the card of an agent, and continues a conversation", async () => {
    const client = await clientFor("helper", binding);
    const card: AgentCard = await client.getAgentCard();
    expect(card).toMatchObject({ name: "helper", description: "Does what it is told." });
    const first = taskIn(await client.sendMessage(message("hello")));
    expect(first.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(answerOf(first)).toBe("You said: hello");
    const next = taskIn(await client.sendMessage(message("again", { contextId: first.contextId })));
    expect(next.contextId).toBe(first.contextId);
    expect(answerOf(next)).toBe("You said: hello / You said: hello / again");
    const read = await client.getTask({ tenant: "", id: first.id });
    expect(read).toEqual(first);
    const { tasks } = await client.listTasks({
      tenant: "",
      contextId: first.contextId,
      status: TaskState.TASK_STATE_UNSPECIFIED,
      pageToken: "",
      statusTimestampAfter: undefined,
    });
    expect(tasks.map(({ id }) => id).toSorted()).toEqual([first.id, next.id].toSorted());
  });

  test("streams a task with a tool: its answer replaces the text before the call", async () => {
    const client = await clientFor("helper", binding);
    const events = await collect(client.sendMessageStream(message("todo")));
    expect(events[0]?.payload?.$case).toBe("task");
    expect(statesIn(events).at(-1)).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(assembled(events)).toMatch(/^It says: .*milk/s);
  });
});

describe("a task", () => {
  test("waits for an approval, which a data part decides", async () => {
    const client = await clientFor("helper");
    const waiting = taskIn(await client.sendMessage(message("write")));
    expect(waiting.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    const asked = waiting.status?.message?.parts[1]?.content?.value as { approvalId: string };
    expect(asked).toMatchObject({ kind: "approval", tool: "write_file" });
    await expect(client.sendMessage(message("yes", { taskId: waiting.id }))).rejects.toThrow(
      "waits for a decision",
    );
    const viewer = await clientFor("helper", "JSONRPC", "viewer-token");
    const decision = { approvalId: asked.approvalId, decision: "approve" };
    await expect(viewer.sendMessage(message(decision, { taskId: waiting.id }))).rejects.toThrow(
      "approver",
    );
    const ended = taskIn(await client.sendMessage(message(decision, { taskId: waiting.id })));
    expect(ended.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(answerOf(ended)).toMatch(/^It says: /);
  });

  test("asks a question, which a text answers once, however often it is sent", async () => {
    const client = await clientFor("helper");
    const waiting = taskIn(await client.sendMessage(message("ask")));
    const { status, id } = waiting;
    expect(status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    expect(status?.message?.parts[0]?.content).toEqual({ $case: "text", value: "Which color?" });
    const answer = message("green", { taskId: id });
    const ended = taskIn(await client.sendMessage(answer));
    expect(answerOf(ended)).toContain("green");
    expect(taskIn(await client.sendMessage(answer))).toEqual(ended);
    await expect(client.sendMessage(message("more", { taskId: id }))).rejects.toThrow("has ended");
  });

  test("is canceled, and a second cancel is refused", async () => {
    const client = await clientFor("helper");
    const request = message("hang");
    const task = taskIn(
      await client.sendMessage({
        ...request,
        configuration: {
          acceptedOutputModes: [],
          taskPushNotificationConfig: undefined,
          returnImmediately: true,
        },
      }),
    );
    const updates = collect(client.resubscribeTask({ tenant: "", id: task.id }));
    const canceled = await client.cancelTask({ tenant: "", id: task.id, metadata: undefined });
    expect(canceled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
    expect(statesIn(await updates).at(-1)).toBe(TaskState.TASK_STATE_CANCELED);
    const again = client.cancelTask({ tenant: "", id: task.id, metadata: undefined });
    await expect(again).rejects.toThrow("cannot be canceled");
  });

  test("is the same one when its message is sent again", async () => {
    const client = await clientFor("helper");
    const request = message("once");
    const first = taskIn(await client.sendMessage(request));
    expect(taskIn(await client.sendMessage(request)).id).toBe(first.id);
    const bob = await clientFor("helper", "JSONRPC", "bob-token");
    expect(taskIn(await bob.sendMessage(request)).id).not.toBe(first.id);
    const [part] = message("other").message.parts;
    const other = { ...request, message: { ...request.message, parts: part ? [part] : [] } };
    await expect(client.sendMessage(other)).rejects.toThrow("choose a new id");
  });
});

describe("an agent", () => {
  test("has a signed card, whose key is beside it", async () => {
    const client = await clientFor("helper");
    const card = await client.getAgentCard();
    const headers = { authorization: `Bearer ${deployment.token}` };
    const verify = verifyAgentCardSignature(async (kid, jku = "") => {
      const { keys } = (await (await fetch(jku, { headers })).json()) as { keys: JWK[] };
      const found = keys.find((key) => key.kid === kid);
      if (found === undefined) throw new Error(`no key ${kid}`);
      return found;
    });
    await expect(verify(card)).resolves.toBeUndefined();
    await expect(verify({ ...card, name: "another" })).rejects.toThrow("No valid signatures");
  });

  test("that is not offered does not exist, and neither do agents for callers without a token", async () => {
    await expect(clientFor("hidden")).rejects.toThrow("404");
    await expect(clientFor("nobody")).rejects.toThrow("404");
    await expect(clientFor("helper", "JSONRPC", "wrong")).rejects.toThrow("401");
  });

  test("has only tasks that were started through A2A", async () => {
    const client = await clientFor("helper");
    for (const agentId of ["hidden", "helper"]) {
      const { run } = await deployment.reeve.runs.startRun({ agentId, input: "x" });
      const other = client.getTask({ tenant: "", id: run?.runId ?? "" });
      await expect(other).rejects.toThrow("has no task");
    }
  });

  test.each(["JSONRPC", "HTTP+JSON"])(
    "notifies receivers of its tasks over %s",
    async (binding) => {
      const client = await clientFor("helper", binding);
      const request = message("hello");
      const push = {
        tenant: "",
        id: "first",
        taskId: "",
        url: receiverUrl(),
        token: binding,
        authentication: undefined,
      };
      const configuration = {
        acceptedOutputModes: [],
        taskPushNotificationConfig: push,
        returnImmediately: true,
      };
      const { id: taskId } = taskIn(await client.sendMessage({ ...request, configuration }));
      await vi.waitUntil(() => pushed.some(({ token }) => token === binding), { timeout: 20_000 });
      const said = pushed.find(({ token }) => token === binding)?.text ?? "";
      expect(JSON.parse(said)).toMatchObject({
        statusUpdate: { taskId, status: { state: "TASK_STATE_COMPLETED" } },
      });
      const waiting = taskIn(await client.sendMessage(message("ask")));
      const created = await client.createTaskPushNotificationConfig({
        ...push,
        taskId: waiting.id,
      });
      const place = { tenant: "", taskId: waiting.id, id: created.id };
      expect(await client.getTaskPushNotificationConfig(place)).toEqual(created);
      await client.deleteTaskPushNotificationConfig(place);
      const all = { ...place, pageSize: 0, pageToken: "" };
      expect((await client.listTaskPushNotificationConfig(all)).configs).toEqual([]);
      const elsewhere = { ...push, taskId: waiting.id, url: "https://elsewhere.example/" };
      await expect(client.createTaskPushNotificationConfig(elsewhere)).rejects.toThrow(
        "REEVE_A2A_PUSH",
      );
      const viewer = await clientFor("helper", binding, "viewer-token");
      const denied = viewer.createTaskPushNotificationConfig({ ...push, taskId: waiting.id });
      await expect(denied).rejects.toThrow("runner");
      await expect(viewer.listTaskPushNotificationConfig(all)).rejects.toThrow("runner");
      const audited = await deployment.reeve.audit.listAuditEvents({ resourceId: waiting.id });
      expect(audited.events.map(({ action, subject }) => [action, subject])).toEqual(
        expect.arrayContaining([
          ["push_config.delete", "tester"],
          ["push_config.create", "tester"],
        ]),
      );
    },
  );

  test("serves clients of A2A 0.3", async () => {
    const headers = { authorization: `Bearer ${deployment.token}` };
    const fetchImpl: typeof fetch = (url, init) =>
      fetch(url, { ...init, headers: { ...headers, "content-type": "application/json" } });
    const answer = await fetch(`${addressOf("helper")}v0.3/.well-known/agent-card.json`, {
      headers,
    });
    const card = (await answer.json()) as { url: string };
    expect(card).toMatchObject({
      protocolVersion: "0.3",
      preferredTransport: "JSONRPC",
      capabilities: { streaming: true, pushNotifications: false },
      securitySchemes: { bearer: { type: "http", scheme: "Bearer" } },
    });
    const transport = new LegacyJsonRpcTransport({ endpoint: card.url, fetchImpl });
    const events = await collect(transport.sendMessageStream(message("todo")));
    expect(assembled(events)).toMatch(/^It says: .*milk/s);
    const waiting = taskIn(await transport.sendMessage(message("ask")));
    expect(waiting.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    const ended = await transport.cancelTask({ tenant: "", id: waiting.id, metadata: undefined });
    expect(ended.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
    await expect(transport.getTask({ tenant: "", id: "x" })).rejects.toThrow("not found");
  });

  test("refuses as the API does: with its status, and its reason", async () => {
    const headers = { authorization: "Bearer viewer-token" };
    const said = { messageId: "v", role: "ROLE_USER", parts: [{ text: "x" }] };
    const body = JSON.stringify({ message: said });
    const address = addressOf("helper");
    const refused = await fetch(`${address}message:send`, { method: "POST", headers, body });
    expect(refused.status).toBe(403);
    const details = [{ reason: "PERMISSION_DENIED" }];
    expect(await refused.json()).toMatchObject({ error: { code: 403, details } });
    const call = { jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message: said } };
    const answer = await fetch(address, { method: "POST", headers, body: JSON.stringify(call) });
    expect(await answer.json()).toMatchObject({ error: { code: -32000, data: details } });
  });

  test.each([
    [
      "data that is nested too deep",
      `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"d","role":"ROLE_USER","parts":[{"data":${"[".repeat(20_000)}${"]".repeat(20_000)}}]}}}`,
      -32602,
    ],
    ["no JSON", "{", -32602],
    ["another version of JSON-RPC", JSON.stringify({ jsonrpc: "1.0", method: "GetTask" }), -32602],
    ["no method", JSON.stringify({ jsonrpc: "2.0", id: 1, method: "Nothing", params: {} }), -32601],
    [
      "no message",
      JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: {} }),
      -32602,
    ],
    ["more values than a message may have", "[".repeat(3_000_000), -32000],
  ])("refuses a request with %s", async (_, body, code) => {
    expect(await post(body)).toMatchObject({ jsonrpc: "2.0", error: { code } });
  });
});

describe("an agent at an endpoint", () => {
  describeRemoteAgents(
    () => deployment,
    () => models,
  );
});
