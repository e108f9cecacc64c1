import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { RunEventKind } from "@reeve/contracts/run";
import { RunStatus } from "@reeve/contracts/run";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ModelServer } from "../support/model-server.ts";
import { startModelServer } from "../support/model-server.ts";
import { Deployment } from "./support/deployment.ts";
import { eventOf, watchToEnd } from "./support/watching.ts";

let models: ModelServer;
let deployment: Deployment;

beforeAll(async () => {
  models = await startModelServer();
  deployment = await Deployment.start({
    OPENAI_API_KEY: "openai-key",
    OPENAI_BASE_URL: models.url,
    OPENAI_API: "responses",
    ANTHROPIC_API_KEY: "anthropic-key",
    ANTHROPIC_BASE_URL: models.url.replace(/\/v1$/, ""),
  });
  await deployment.agent("first", { model: "openai:gpt-x" });
  await deployment.agent("second", { model: "anthropic:claude-x" });
});

afterAll(async () => {
  await deployment[Symbol.asyncDispose]();
  await models[Symbol.asyncDispose]();
});

const events = (...all: readonly { readonly type: string }[]) => ({
  body: all.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`),
});

/** A response of the Responses API with these items. */
const responses = (...output: readonly object[]) => {
  const usage = { input_tokens: 20, output_tokens: 5 };
  return events({ type: "response.completed", response: { output, usage } } as { type: string });
};

const message = (text: string) => ({
  type: "message",
  role: "assistant",
  content: [{ type: "output_text", text, annotations: [] }],
});

/** A response of the Messages API with one text. */
const messages = (text: string) =>
  events(
    ...([
      { type: "message_start", message: { usage: { input_tokens: 30, output_tokens: 1 } } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 6 } },
      { type: "message_stop" },
    ] as readonly { readonly type: string }[]),
  );

async function say(agentId: string, input: string) {
  const request = { agentId, input, threadId: "talk" };
  const { run } = await deployment.reeve.runs.startRun(request);
  return watchToEnd(deployment, run?.runId ?? "");
}

test("a conversation that continues with another provider keeps its messages and calls", async () => {
  const reasoning = { type: "reasoning", id: "rs_1", encrypted_content: "gAAAA", summary: [] };
  const args = '{"text":"rain"}';
  const call = { type: "function_call", call_id: "c.1", name: "add_todo", arguments: args };
  models.program(responses(reasoning, call), responses(message("Done.")), messages("Rain."));

  const first = await say("first", "note the rain");
  expect(first.at(-1)?.event.value).toMatchObject({ status: RunStatus.COMPLETED });
  const again = models.requests[1];
  expect(again?.body["input"]).toMatchObject([
    { role: "user" },
    reasoning,
    call,
    { type: "function_call_output", call_id: "c.1" },
  ]);

  const second = await say("second", "what did I say?");
  expect(second.at(-1)?.event.value).toMatchObject({ status: RunStatus.COMPLETED });
  const usage = second.find(({ event }) => event.case === "usage");
  expect(usage?.event.value).toMatchObject({ inputTokens: 30, outputTokens: 6, estimated: false });
  const { path, headers, body } = models.requests[2] ?? {};
  expect(path).toBe("/v1/messages");
  expect(headers?.authorization).toBe("Bearer anthropic-key");
  expect(body?.messages).toMatchObject([
    { role: "user", content: [{ text: "note the rain" }] },
    {
      role: "assistant",
      content: [{ type: "tool_use", id: "c_2e_1", name: "add_todo", input: { text: "rain" } }],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "c_2e_1" }] },
    { role: "assistant", content: [{ type: "text", text: "Done." }] },
    { role: "user", content: [{ text: "what did I say?" }] },
  ]);
});

// Requirement: DUR-3
test("a run that waits for its provider shows why, and survives the death of its runtime", async () => {
  const limited = { error: { message: "slow down", code: "rate_limit_exceeded" } };
  const headers = { "content-type": "application/json", "retry-after": "6" };
  models.program(
    { status: 429, headers, body: [JSON.stringify(limited)] },
    responses(message("At last.")),
  );
  const { run } = await deployment.reeve.runs.startRun({ agentId: "first", input: "wait" });
  const runId = run?.runId ?? "";
  const watched = watchToEnd(deployment, runId);
  await eventOf(deployment, runId, "modelCallFailed");
  await deployment.kill("runtime");
  const waiting = await deployment.reeve.runs.getRun({ runId });
  expect(waiting.run?.modelWait).toMatchObject({
    provider: "openai",
    reason: "rate_limited",
    attempt: 1,
    message: "openai answered 429: slow down",
  });
  await deployment.start("runtime");
  const events = await watched;
  expect(events.at(-1)?.event.value).toMatchObject({ status: RunStatus.COMPLETED });
  const timeOf = (kind: RunEventKind) => {
    const { time } = events.find(({ event }) => event.case === kind) ?? {};
    return time === undefined ? 0 : timestampMs(time);
  };
  expect(timeOf("modelRetryDue") - timeOf("modelCallFailed")).toBeGreaterThanOrEqual(6_000);
  expect(events.filter(({ event }) => event.case === "runClaimed").length).toBeGreaterThan(1);
});
