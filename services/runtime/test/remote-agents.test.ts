import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Artifact, Message, StreamResponse } from "@a2a-js/sdk";
import { Role, TaskState } from "@a2a-js/sdk";
import type { AgentExecutor, ExecutionEventBus } from "@a2a-js/sdk/server";
import { AgentEvent } from "@a2a-js/sdk/server";
import { create } from "@bufbuild/protobuf";
import { ModelSpecSchema } from "@reeve/contracts/agent";
import type { ModelPart, ModelRequest, PromptMessage } from "@reeve/engine/ports/model-provider";
import { ModelFailure } from "@reeve/engine/ports/model-provider";
import { afterEach, describe, expect, test } from "vitest";
import { RemoteClients } from "../src/remote-agents/remote-clients.ts";
import { remoteAgentProvider } from "../src/remote-agents/remote-provider.ts";
import { remoteMessage } from "../src/remote-agents/remote-message.ts";
import { RemoteTurn } from "../src/remote-agents/remote-turn.ts";
import type { Remote } from "../src/remote-agents/remotes-file.ts";
import { readRemotes, remoteFor } from "../src/remote-agents/remotes-file.ts";
import type { AgentServer, Intercept } from "./support/agent-server.ts";
import { startAgentServer } from "./support/agent-server.ts";

const never = new AbortController().signal;
let resources = new AsyncDisposableStack();

afterEach(async () => {
  await resources.disposeAsync();
  resources = new AsyncDisposableStack();
});

const textPart = (value: string) => ({
  content: { $case: "text", value } as const,
  metadata: undefined,
  filename: "",
  mediaType: "",
});

const said = (text: string): Message => ({
  messageId: "m",
  taskId: "",
  contextId: "",
  role: Role.ROLE_AGENT,
  parts: [textPart(text)],
  metadata: undefined,
  extensions: [],
  referenceTaskIds: [],
});

const artifact = (text: string): Artifact => ({
  artifactId: "a",
  name: "",
  description: "",
  parts: [textPart(text)],
  metadata: undefined,
  extensions: [],
});

const status = (state: TaskState, message?: Message) => ({ state, message, timestamp: undefined });

/** An agent that asks for a color, and then names it. */
const asking: AgentExecutor = {
  async execute({ taskId, contextId, userMessage, task }, bus) {
    const [part] = userMessage.parts;
    const text = part?.content?.$case === "text" ? part.content.value : "";
    const update = (state: TaskState, message?: Message) =>
      publish(
        bus,
        AgentEvent.statusUpdate({
          taskId,
          contextId,
          status: status(state, message),
          metadata: undefined,
        }),
      );
    // As it was before the message.
    const known = {
      id: taskId,
      contextId,
      status: task?.status ?? status(TaskState.TASK_STATE_SUBMITTED),
      artifacts: [],
      history: [userMessage],
      metadata: undefined,
    };
    publish(bus, AgentEvent.task(known));
    if (task === undefined) {
      return update(TaskState.TASK_STATE_INPUT_REQUIRED, said("Which color?"));
    }
    const whole = { artifact: artifact(`It is ${text}.`), append: false, lastChunk: true };
    publish(bus, AgentEvent.artifactUpdate({ taskId, contextId, ...whole, metadata: undefined }));
    update(TaskState.TASK_STATE_COMPLETED);
    return await Promise.resolve();
  },
  cancelTask: () => Promise.resolve(),
};

function publish(bus: ExecutionEventBus, event: Parameters<ExecutionEventBus["publish"]>[0]): void {
  bus.publish(event);
}

const remoteAt = (prefix: string, more: Partial<Remote> = {}): Remote => ({
  name: "here",
  prefix,
  tenants: undefined,
  token: undefined,
  allowedAddresses: ["127.0.0.1"],
  ...more,
});

const user = (text: string): PromptMessage => ({ role: "user", text });

const fresh = { messageId: "m-1", taskId: "", contextId: "", isAccepted: false, maxMs: 60_000 };

function requestTo(url: string, messages: readonly PromptMessage[], remote = fresh): ModelRequest {
  return {
    model: create(ModelSpecSchema, { id: "far", provider: "a2a", upstreamName: url }),
    instructions: "",
    messages,
    tools: [],
    parallelToolCalls: false,
    temperature: undefined,
    maxTokens: undefined,
    owner: { tenant: "acme", runId: "run_1" },
    remote,
  };
}

/** Sends a request to an agent on this host, and returns what the run gets. */
async function ask(
  remotes: readonly Remote[],
  request: ModelRequest,
): Promise<readonly ModelPart[]> {
  const clients = resources.use(new RemoteClients(remotes, () => 0));
  return await Array.fromAsync(remoteAgentProvider(clients).stream(request, never));
}

async function failureOf(answer: Promise<unknown>): Promise<ModelFailure> {
  try {
    await answer;
  } catch (error) {
    if (error instanceof ModelFailure) return error;
    throw error;
  }
  throw new Error("the agent answered");
}

const turnIn = (parts: readonly ModelPart[]) => {
  const last = parts.at(-1);
  if (last?.kind !== "turn") throw new Error("there is no turn");
  return last.turn;
};

const taskIn = (parts: readonly ModelPart[]) => parts.find((part) => part.kind === "remote_task");

// Requirement: RES-3
describe.each([true, false])("an agent of the A2A project (streams: %s)", (streams) => {
  test("asks a person, and answers in the same task", async () => {
    const server = resources.use(await startAgentServer(asking, { streams }));
    const remotes = [remoteAt(server.url)];
    const first = await ask(remotes, requestTo(server.url, [user("paint")]));
    const turn = turnIn(first);
    expect(turn.calls).toMatchObject([
      { name: "ask_user", argumentsText: JSON.stringify({ question: "Which color?" }) },
    ]);
    const { taskId = "", contextId = "" } = taskIn(first) ?? {};
    const answered: readonly PromptMessage[] = [
      user("paint"),
      { role: "verbatim", messageJson: turn.messageJson, format: "a2a" },
      {
        role: "tool",
        providerCallId: taskId,
        name: "ask_user",
        content: `{"answer":"green"}`,
        isError: false,
      },
    ];
    const remote = { ...fresh, messageId: "m-2", taskId, contextId };
    const second = await ask(remotes, requestTo(server.url, answered, remote));
    expect(turnIn(second)).toMatchObject({ finishReason: "stop", calls: [] });
    expect(second.filter(({ kind }) => kind === "text")).toEqual([
      { kind: "text", text: "It is green." },
    ]);
  });

  test("gets no message twice from a worker that takes the run over", async () => {
    const server = resources.use(await startAgentServer(asking, { streams }));
    const remotes = [remoteAt(server.url)];
    const first = await ask(remotes, requestTo(server.url, [user("paint")]));
    const { taskId = "", contextId = "" } = taskIn(first) ?? {};
    const sent = server.asked.filter((method) => method.startsWith("Send")).length;
    const remote = { ...fresh, taskId, contextId, isAccepted: true };
    const again = await ask(remotes, requestTo(server.url, [user("paint")], remote));
    expect(turnIn(again).calls).toHaveLength(1);
    expect(server.asked.filter((method) => method.startsWith("Send"))).toHaveLength(sent);
  });
});

describe("a remote agent is not called", () => {
  const url = "https://agents.example/a/";

  test("without an entry of the operator for its address and the tenant", async () => {
    const remotes = [remoteAt(url, { tenants: ["globex"] })];
    for (const target of [
      url,
      "https://agents.example/b/",
      "https://agents.example/a/../b/",
      "https://agents.example/a/..%2fb/",
    ]) {
      const failure = await failureOf(ask(remotes, requestTo(target, [user("x")])));
      expect(failure).toMatchObject({ reason: "refused", retryable: false });
    }
    expect(remoteFor(remotes, "globex", "https://agents.example/a")?.name).toBe("here");
    expect(remoteFor(remotes, "globex", "https://agents.example.evil/a/")).toBeUndefined();
    expect(remoteFor(remotes, "globex", "https://u:p@agents.example/a/")).toBeUndefined();
  });

  test.each(["http://127.0.0.1:9/", "http://169.254.169.254/", "http://10.0.0.1/"])(
    "at the address %s unless the operator allows it",
    async (address) => {
      const remotes = [remoteAt(address, { allowedAddresses: [] })];
      const failure = await failureOf(ask(remotes, requestTo(address, [user("x")])));
      expect(failure).toMatchObject({ reason: "refused", retryable: false });
      expect(failure.message).toContain("not permitted");
    },
  );
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

test("what one remote agent says is not for another", () => {
  const turn = { url: "https://one.example", contextId: "of-one" };
  const messages: readonly PromptMessage[] = [
    { role: "verbatim", messageJson: json(turn), format: "a2a" },
    user("next"),
  ];
  const contextOf = (url: string) => remoteMessage(requestTo(url, messages), fresh).contextId;
  expect(contextOf("https://one.example")).toBe("of-one");
  expect(contextOf("https://two.example")).toBe("");
});

test("each entry of the operator is called with its own token", async () => {
  const tokens: unknown[] = [];
  const server = await hostile((request) => {
    tokens.push(request.headers.authorization);
    return false;
  });
  const entry = (tenant: string) =>
    remoteAt(server.url, { tenants: [tenant], token: `of-${tenant}` });
  const clients = resources.use(new RemoteClients([entry("acme"), entry("globex")], () => 0));
  for (const tenant of ["acme", "globex"]) await clients.clientFor(tenant, server.url, never);
  expect(tokens).toEqual(["Bearer of-acme", "Bearer of-globex"]);
});

test.each([
  ["two entries with one name", "- &a { name: a, url: 'https://x.example' }\n  - *a", "same name"],
  [
    "a range that is none",
    "- { name: a, url: 'https://x.example', allow_addresses: [10.0.0.0/99] }",
    "no range",
  ],
])("a file of the operator with %s is refused", async (_, entries, message) => {
  const folder = mkdtempSync(join(tmpdir(), "reeve-remotes-"));
  resources.defer(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "remotes.yaml");
  writeFileSync(path, `remotes:\n  ${entries}\n`);
  await expect(readRemotes(path, {}, never)).rejects.toThrow(message);
});

test("nothing after the end of a task counts", () => {
  const turn = new RemoteTurn({ taskId: "t", contextId: "c" });
  turn.take(updateTo(TaskState.TASK_STATE_COMPLETED));
  const { end } = turn;
  expect(turn.take(updateTo(TaskState.TASK_STATE_FAILED))).toEqual([]);
  expect(turn.end).toBe(end);
});
