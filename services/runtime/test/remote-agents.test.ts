import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentExecutor } from "@a2a-js/sdk/server";
import type { ModelPart, PromptMessage } from "@reeve/engine/ports/model-provider";
import { AnswerNotNeeded } from "@reeve/engine/ports/model-provider";
import { afterEach, describe, expect, test } from "vitest";
import { RemoteClients } from "../src/remote-agents/remote-clients.ts";
import { remoteAgentProvider } from "../src/remote-agents/remote-provider.ts";
import { remoteMessage } from "../src/remote-agents/remote-message.ts";
import { readRemotes, remoteFor } from "../src/remote-agents/remotes-file.ts";
import type { Intercept } from "./support/agent-server.ts";
import { startAgentServer } from "./support/agent-server.ts";
import { asking } from "./support/asking-agent.ts";
import { ask, failureOf, fresh, remoteAt, requestTo, user } from "./support/remote-requests.ts";

const never = new AbortController().signal;
let resources = new AsyncDisposableStack();

afterEach(async () => {
  await resources.disposeAsync();
  resources = new AsyncDisposableStack();
});

const turnIn = (parts: readonly ModelPart[]) => {
  const last = parts.at(-1);
  if (last?.kind !== "turn") throw new Error("there is no turn");
  return last.turn;
};

const taskIn = (parts: readonly ModelPart[]) => parts.find((part) => part.kind === "remote_task");

/** Answers a cancel at once, which the agent of the SDK ends only with its work. */
const refusing: Intercept = (_request, response, body) => {
  if (!body.includes("CancelTask")) return false;
  response.end(JSON.stringify({ jsonrpc: "2.0", id: 1, error: { code: -32002, message: "" } }));
  return true;
};

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

  test.each([
    ["cancels a task that it named after the run was cancelled", new AnswerNotNeeded(), true],
    ["keeps the task of a worker that gave the run up", new DOMException("x", "AbortError"), false],
  ])("%s", async (_, reason, isCanceled) => {
    const stop = new AbortController();
    const aborting: AgentExecutor = {
      ...asking,
      async execute(...given) {
        stop.abort(reason);
        await asking.execute(...given);
      },
    };
    const options = { streams, intercept: refusing };
    const server = resources.use(await startAgentServer(aborting, options));
    const clients = resources.use(new RemoteClients([remoteAt(server.url)], () => 0));
    const request = requestTo(server.url, [user("paint")]);
    const answer = Array.fromAsync(remoteAgentProvider(clients).stream(request, stop.signal));
    await expect(answer).rejects.toBe(reason);
    expect(server.asked.includes("CancelTask")).toBe(isCanceled);
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

test("what an agent says is shown also if it is read from a task that its agent does not stream", async () => {
  const said = ["looking", "comparing"];
  const speaking: Intercept = (request, response, body) => {
    const { id, method } =
      request.method === "GET"
        ? {}
        : (JSON.parse(body) as { readonly id: unknown; readonly method: string });
    if (method === undefined) return false;
    const text = method === "SendMessage" ? undefined : said.shift();
    const isOver = method !== "SendMessage" && text === undefined;
    const state = isOver ? "TASK_STATE_COMPLETED" : "TASK_STATE_WORKING";
    const message = { messageId: "m", role: "ROLE_AGENT", parts: [{ text: text ?? "done" }] };
    const task = { id: "t-1", contextId: "c-1", status: { state, message } };
    const result = method === "SendMessage" ? { task } : task;
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
    return true;
  };
  const server = resources.use(
    await startAgentServer(asking, { streams: false, intercept: speaking }),
  );
  const parts = await ask([remoteAt(server.url)], requestTo(server.url, [user("paint")]));
  const shown = parts.flatMap((part) => (part.kind === "reasoning" ? [part.text] : []));
  expect(shown.join("")).toContain("looking\ncomparing\n");
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

test("what one remote agent says is not for another", () => {
  const turn = { url: "https://one.example", contextId: "of-one" };
  const messages: readonly PromptMessage[] = [
    { role: "verbatim", messageJson: JSON.stringify(turn), format: "a2a" },
    user("next"),
  ];
  const contextOf = (url: string) => remoteMessage(requestTo(url, messages), fresh).contextId;
  expect(contextOf("https://one.example")).toBe("of-one");
  expect(contextOf("https://two.example")).toBe("");
});

test("each entry of the operator is called with its own token", async () => {
  const tokens: unknown[] = [];
  const intercept: Intercept = (request) => {
    tokens.push(request.headers.authorization);
    return false;
  };
  const server = resources.use(await startAgentServer(asking, { intercept }));
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
  [
    "an empty file of a token",
    "- { name: a, url: 'https://x.example', token_file: /dev/null }",
    "no usable token",
  ],
  [
    "keys that are none",
    "- { name: a, url: 'https://x.example', card_keys: /dev/null }",
    "no public keys",
  ],
  [
    "keys that are missing",
    "- { name: a, url: 'https://x.example', card_keys: /missing.json }",
    "card_keys of the remote a is /missing.json, which cannot be read: ENOENT",
  ],
])("a file of the operator with %s is refused", async (_, entries, message) => {
  const folder = mkdtempSync(join(tmpdir(), "reeve-remotes-"));
  resources.defer(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "remotes.yaml");
  writeFileSync(path, `remotes:\n  ${entries}\n`);
  await expect(readRemotes(path, {}, never)).rejects.toThrow(message);
});
