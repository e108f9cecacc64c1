import type { AgentCard } from "@a2a-js/sdk";
import { TaskState, verifyAgentCardSignature } from "@a2a-js/sdk";
import { LegacyJsonRpcTransport } from "@a2a-js/sdk/compat/v0_3/client";
import type { JWK } from "jose";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { describeA2AOverGrpc } from "./parts/a2a-grpc.ts";
import { describePythonClient } from "./parts/python-a2a-client.ts";
import { describeRemoteAgents } from "./parts/remote-agents.ts";
import { openA2AClient, post } from "./support/a2a/a2a-client.ts";
import type { A2ADeployment } from "./support/a2a/a2a-deployment.ts";
import { addressOf, startA2ADeployment } from "./support/a2a/a2a-deployment.ts";
import { message } from "./support/a2a/messages.ts";
import { answerOf, assembled, collect, statesIn, taskIn } from "./support/a2a/task-updates.ts";
import type { Deployment } from "./support/deployment.ts";

let offered: A2ADeployment;
let deployment: Deployment;

beforeAll(async () => {
  offered = await startA2ADeployment();
  deployment = offered.deployment;
});

afterAll(async () => {
  await offered[Symbol.asyncDispose]();
});

const clientFor = (agent: string, binding = "JSONRPC", token = deployment.token) =>
  openA2AClient(addressOf(deployment, agent), binding, token);

describe.each(["JSONRPC", "HTTP+JSON", "GRPC"])(
  "the client of the A2A project over %s",
  (binding) => {
    test("reads the card of an agent, and continues a conversation", async () => {
      const client = await clientFor("helper", binding);
      const card: AgentCard = await client.getAgentCard();
      expect(card).toMatchObject({ name: "helper", description: "Does what it is told." });
      const first = taskIn(await client.sendMessage(message("hello")));
      expect(first.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
      expect(answerOf(first)).toBe("You said: hello");
      const next = taskIn(
        await client.sendMessage(message("again", { contextId: first.contextId })),
      );
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
  },
);

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

  test.each(["JSONRPC", "HTTP+JSON", "GRPC"])(
    "notifies receivers of its tasks over %s",
    async (binding) => {
      const { receiver } = offered;
      const client = await clientFor("helper", binding);
      const request = message("hello");
      const push = {
        tenant: "",
        id: "first",
        taskId: "",
        url: receiver.url,
        token: binding,
        authentication: undefined,
      };
      const configuration = {
        acceptedOutputModes: [],
        taskPushNotificationConfig: push,
        returnImmediately: true,
      };
      const { id: taskId } = taskIn(await client.sendMessage({ ...request, configuration }));
      await vi.waitUntil(() => receiver.pushed.some(({ token }) => token === binding), {
        timeout: 20_000,
      });
      const said = receiver.pushed.find(({ token }) => token === binding)?.text ?? "";
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
    const answer = await fetch(
      `${addressOf(deployment, "helper")}v0.3/.well-known/agent-card.json`,
      {
        headers,
      },
    );
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
    const push = {
      tenant: "",
      id: "old",
      taskId: waiting.id,
      url: offered.receiver.url,
      token: "old",
      authentication: undefined,
    };
    const notified = transport.createTaskPushNotificationConfig(push);
    await expect(notified).rejects.toThrow("push notification");
    const ended = await transport.cancelTask({ tenant: "", id: waiting.id, metadata: undefined });
    expect(ended.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
    await expect(transport.getTask({ tenant: "", id: "x" })).rejects.toThrow("not found");
  });

  test("refuses as the API does: with its status, and its reason", async () => {
    const headers = { authorization: "Bearer viewer-token" };
    const said = { messageId: "v", role: "ROLE_USER", parts: [{ text: "x" }] };
    const body = JSON.stringify({ message: said });
    const address = addressOf(deployment, "helper");
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
    expect(await post(addressOf(deployment, "helper"), deployment.token, body)).toMatchObject({
      jsonrpc: "2.0",
      error: { code },
    });
  });
});

describe("an agent at an endpoint", () => {
  describeRemoteAgents(
    () => deployment,
    () => offered.models,
  );
});

describeA2AOverGrpc(() => deployment);

describe("the client of the A2A project for Python", () => {
  describePythonClient(() => deployment);
});
