import type { StreamResponse } from "@a2a-js/sdk";
import { TaskState } from "@a2a-js/sdk";
import { usageExtension } from "@reeve/agent/resolve/remote-usage";
import { afterEach, describe, expect, test } from "vitest";
import { RemoteTurn } from "../src/remote-agents/remote-turn.ts";
import type { AgentServer, Intercept } from "./support/agent-server.ts";
import { startAgentServer } from "./support/agent-server.ts";
import { asking, status } from "./support/asking-agent.ts";
import { ask, failureOf, fresh, remoteAt, requestTo, user } from "./support/remote-requests.ts";

let resources = new AsyncDisposableStack();

afterEach(async () => {
  await resources.disposeAsync();
  resources = new AsyncDisposableStack();
});

/** Starts an agent of which `intercept` answers all requests. */
async function hostile(intercept: Intercept): Promise<AgentServer> {
  return resources.use(await startAgentServer(asking, { intercept }));
}

const json = (value: unknown) => JSON.stringify(value);

/** Answers the message with events, and then does what `after` does. */
function streaming(
  events: readonly object[],
  after: (response: Parameters<Intercept>[1]) => void = (response) => void response.end(),
): Intercept {
  return (request, response, body) => {
    if (request.method === "GET") return false;
    const { id } = JSON.parse(body) as { id: number };
    response.setHeader("content-type", "text/event-stream");
    for (const result of events)
      response.write(`data: ${json({ jsonrpc: "2.0", id, result })}\n\n`);
    after(response);
    return true;
  };
}

const working = { task: { id: "t", contextId: "c", status: { state: "TASK_STATE_WORKING" } } };
const doneMessage = { messageId: "m", role: "ROLE_AGENT", parts: [{ text: "done" }] };
const statusOf = (state: string, taskId = "t") => ({
  statusUpdate: { taskId, contextId: "c", status: { state } },
});

// Requirement: RES-3
describe("a remote agent that misbehaves gives a failure by name", () => {
  test.each<readonly [string, Intercept, string]>([
    [
      "a card of 100 MB",
      (_request, response) => {
        const more = () => response.write("x".repeat(65_536)) && setImmediate(more);
        response.on("drain", more);
        more();
        return true;
      },
      "more than 262144 bytes",
    ],
    [
      "a redirect to a metadata service",
      (_request, response) => {
        response.writeHead(302, { location: "http://169.254.169.254/latest" }).end();
        return true;
      },
      "a redirect, which is not followed",
    ],
    [
      "a card that is no JSON",
      (_request, response) => {
        response.end("<html>");
        return true;
      },
      "is not an agent card",
    ],
    [
      "a card that names another address",
      (_request, response) => {
        const elsewhere = {
          url: "http://169.254.169.254/",
          protocolBinding: "JSONRPC",
          protocolVersion: "1.0",
        };
        response.end(json({ name: "x", supportedInterfaces: [elsewhere], capabilities: {} }));
        return true;
      },
      "outside of the remote",
    ],
    [
      "no permission",
      (_request, response) => {
        response.writeHead(401).end();
        return true;
      },
      "answers 401",
    ],
    [
      "an update of another task",
      streaming([working, statusOf("TASK_STATE_COMPLETED", "u")]),
      "another task",
    ],
    [
      "the id of a task of 2 MB",
      streaming([{ task: { ...working.task, id: "t".repeat(2_000_000) } }]),
      "an id of more than 255",
    ],
    [
      "events without number",
      streaming(Array.from({ length: 20_001 }, () => working)),
      "more than 20000 events",
    ],
    ["an update before its task", streaming([statusOf("TASK_STATE_COMPLETED")]), "before its task"],
    [
      "a state that does not exist",
      streaming([working, statusOf("TASK_STATE_DONE")]),
      "known state",
    ],
    ["a failed task", streaming([working, statusOf("TASK_STATE_FAILED")]), "the task failed"],
    [
      "a task that needs authentication",
      streaming([working, statusOf("TASK_STATE_AUTH_REQUIRED")]),
      "AUTH_REQUIRED",
    ],
    [
      "an event without end",
      streaming([working], (response) => {
        const more = () => response.write(`data: ${"x".repeat(65_536)}`) && setImmediate(more);
        response.on("drain", more);
        more();
      }),
      "the remote agent",
    ],
  ])("%s", async (_, intercept, message) => {
    const server = await hostile(intercept);
    const failure = await failureOf(
      ask([remoteAt(server.url)], requestTo(server.url, [user("x")])),
    );
    expect(failure.message).toContain(message);
    expect(failure.retryable).toBe(false);
  });

  test("work that outlasts the time of the run", async () => {
    const server = await hostile(streaming([working], () => undefined));
    const request = requestTo(server.url, [user("x")], { ...fresh, maxMs: 300 });
    const failure = await failureOf(ask([remoteAt(server.url)], request));
    expect(failure.message).toContain("did not end its work within 300 ms");
    expect(failure.retryable).toBe(false);
  });

  test("a lost connection can be repeated", async () => {
    const server = await hostile(streaming([working], (response) => void response.destroy()));
    const failure = await failureOf(
      ask([remoteAt(server.url)], requestTo(server.url, [user("x")])),
    );
    expect(failure.retryable).toBe(true);
  });
});

const updateTo = (state: TaskState): StreamResponse => ({
  payload: {
    $case: "statusUpdate",
    value: {
      taskId: "t",
      contextId: "c",
      status: status(state),
      metadata: undefined,
    },
  },
});

test("a task that repeats itself is recorded and shown once, and a long status is cut", async () => {
  const speaking = {
    task: {
      ...working.task,
      status: {
        state: "TASK_STATE_WORKING",
        message: { ...doneMessage, parts: [{ text: "x".repeat(90_000) }] },
      },
      artifacts: [{ artifactId: "a", parts: [{ text: "a draft" }] }],
    },
  };
  const server = await hostile(
    streaming([...Array.from({ length: 50 }, () => speaking), statusOf("TASK_STATE_COMPLETED")]),
  );
  const parts = await ask([remoteAt(server.url)], requestTo(server.url, [user("x")]));
  expect(parts.map(({ kind }) => kind)).toEqual([
    "remote_task",
    "reasoning",
    "reasoning",
    "text",
    "turn",
  ]);
  const shown = parts.flatMap((part) => (part.kind === "reasoning" ? [part.text.length] : []));
  expect(Math.max(...shown)).toBeLessThan(20_000);
});

test("an answer that had reached the task is not lost when it is sent again", async () => {
  const server = await hostile((request, response, body) => {
    if (request.method === "GET") return false;
    const { id, method } = JSON.parse(body) as { id: number; method: string };
    const ended = {
      ...working.task,
      status: { state: "TASK_STATE_COMPLETED", message: doneMessage },
    };
    const refusal = { code: -32004, message: "task t has ended" };
    response.setHeader("content-type", "application/json");
    response.end(
      json({
        jsonrpc: "2.0",
        id,
        ...(method === "GetTask" ? { result: ended } : { error: refusal }),
      }),
    );
    return true;
  });
  const remote = { ...fresh, taskId: "t", contextId: "c" };
  const parts = await ask([remoteAt(server.url)], requestTo(server.url, [user("x")], remote));
  expect(parts).toContainEqual({ kind: "text", text: "done" });
});

test("nothing after the end of a task counts", () => {
  const turn = new RemoteTurn({ taskId: "t", contextId: "c" });
  turn.take(updateTo(TaskState.TASK_STATE_COMPLETED));
  const { end } = turn;
  expect(turn.take(updateTo(TaskState.TASK_STATE_FAILED))).toEqual([]);
  expect(turn.end).toBe(end);
});

// Requirement: RES-7
test.each(["TASK_STATE_FAILED", "TASK_STATE_CANCELED", "TASK_STATE_REJECTED"])(
  "a task that ends as %s has used what it reports, without what earlier turns have counted",
  async (state) => {
    const used = { inputTokens: 100, outputTokens: 20, cachedInputTokens: 60, costUsd: 0.25 };
    const ended = statusOf(state).statusUpdate;
    const statusUpdate = { ...ended, metadata: { [usageExtension]: used } };
    const server = await hostile(streaming([working, { statusUpdate }]));
    const remotes = [remoteAt(server.url)];
    const failure = await failureOf(ask(remotes, requestTo(server.url, [user("x")])));
    expect(failure).toMatchObject({ reason: "refused", usage: used });
    const counted = { ...used, inputTokens: 90, cacheWriteInputTokens: 0, costUsd: 0.2 };
    const before = { url: server.url, contextId: "c", used: { taskId: "t", usage: counted } };
    const verbatim = { role: "verbatim", messageJson: json(before), format: "a2a" } as const;
    const messages = [user("x"), verbatim, user("y")];
    const later = await failureOf(ask(remotes, requestTo(server.url, messages)));
    expect(later.usage).toMatchObject({ inputTokens: 10, outputTokens: 0 });
    expect(later.usage?.costUsd).toBeCloseTo(0.05);
  },
);

test("a task that failed without a report says nothing of what it used", async () => {
  const server = await hostile(streaming([working, statusOf("TASK_STATE_FAILED")]));
  const failure = await failureOf(ask([remoteAt(server.url)], requestTo(server.url, [user("x")])));
  expect(failure.usage).toBeUndefined();
});
