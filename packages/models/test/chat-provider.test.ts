import { create } from "@bufbuild/protobuf";
import { ModelSpecSchema } from "@reeve/contracts/agent";
import { ToolDescriptorSchema } from "@reeve/contracts/tool";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chunk, done, event } from "@reeve/test/support/model-answers";
import type { ModelServer, ProgrammedResponse } from "@reeve/test/support/model-server";
import { startModelServer } from "@reeve/test/support/model-server";
import { chatProvider } from "../src/chat/chat-provider.ts";
import type { ModelPart, ModelRequest, ModelTurn } from "@reeve/engine/ports/model-provider";
import { ModelFailure } from "@reeve/engine/ports/model-provider";

let server: ModelServer;
const key = "sk-secret";

beforeAll(async () => {
  server = await startModelServer();
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

const never = new Promise<void>(() => undefined);
const whole = [chunk({ role: "assistant", content: "Hi" }), chunk({}, "stop"), done].join("");

function request(overrides: Partial<ModelRequest> = {}, model = "text:3"): ModelRequest {
  return {
    model: create(ModelSpecSchema, { id: "m", provider: "openai", upstreamName: model }),
    instructions: "be brief",
    messages: [{ role: "user", text: "hello" }],
    tools: [],
    temperature: undefined,
    parallelToolCalls: true,
    maxTokens: undefined,
    ...overrides,
  };
}

function ask(
  modelRequest: ModelRequest = request(),
  signal: AbortSignal = new AbortController().signal,
  baseUrl = server.url,
): AsyncIterable<ModelPart> {
  return chatProvider({ apiKey: key, baseUrl }).stream(modelRequest, signal);
}

async function turnOf(parts: AsyncIterable<ModelPart> | readonly ModelPart[]): Promise<ModelTurn> {
  const part = (await Array.fromAsync(parts)).at(-1);
  if (part?.kind !== "turn") throw new Error("no turn");
  return part.turn;
}

/** Returns the turn of an answer with this body. */
async function given(...body: NonNullable<ProgrammedResponse["body"]>): Promise<ModelTurn> {
  server.program({ body });
  return turnOf(ask());
}

async function failureOf(response: ProgrammedResponse): Promise<ModelFailure> {
  server.program(response);
  try {
    await Array.fromAsync(ask());
  } catch (error) {
    if (error instanceof ModelFailure) return error;
    throw error;
  }
  throw new Error("there was an answer");
}

describe("a model over the chat completions API", () => {
  test("is called with the prompt, the tools, and the key", async () => {
    const number = server.requests.length + 1;
    const search = create(ToolDescriptorSchema, {
      name: "search",
      description: "Searches",
      inputSchema: { type: "object", properties: { q: { type: "string" } } },
    });
    const message = {
      role: "assistant",
      content: null,
      reasoning_content: "hm",
      tool_calls: [{ id: "c1", type: "function", function: { name: "search", arguments: "{" } }],
    };
    await Array.fromAsync(
      ask(
        request({
          messages: [
            { role: "user", text: "hello" },
            { role: "assistant", text: "hi" },
            { role: "verbatim", messageJson: JSON.stringify(message) },
            { role: "tool", providerCallId: "c1", name: "search", content: "bad", isError: true },
          ],
          tools: [search],
          temperature: 0,
          maxTokens: 100,
        }),
      ),
    );
    const { body, headers } = await server.request(number);
    expect(headers.authorization).toBe(`Bearer ${key}`);
    expect(body).toEqual({
      model: "text:3",
      stream: true,
      stream_options: { include_usage: true },
      messages: [
        { role: "system", content: "be brief" },
        { role: "user", content: "hello" },
        { role: "assistant", content: "hi" },
        message,
        { role: "tool", tool_call_id: "c1", content: "bad" },
      ],
      tools: [
        {
          type: "function",
          function: {
            name: "search",
            description: "Searches",
            parameters: { type: "object", properties: { q: { type: "string" } } },
          },
        },
      ],
      temperature: 0,
      max_tokens: 100,
    });
  });

  test("answers with text, usage, and its name", async () => {
    const parts = await Array.fromAsync(ask());
    const text = parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
    expect(text).toBe("word0 word1 word2 ");
    expect(await turnOf(parts)).toEqual({
      messageJson: JSON.stringify({ role: "assistant", content: text }),
      finishReason: "stop",
      calls: [],
      usage: {
        inputTokens: 10,
        outputTokens: 3,
        cachedInputTokens: 0,
        cacheWriteInputTokens: 0,
        reasoningTokens: 0,
      },
      model: "scripted",
    });
  });

  test("streams text as soon as it arrives", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    server.program({ body: [chunk({ content: "Hi" }), promise, chunk({}, "stop"), done] });
    const parts = ask()[Symbol.asyncIterator]();
    expect(await parts.next()).toMatchObject({ value: { kind: "text", text: "Hi" } });
    resolve();
    expect(await parts.next()).toMatchObject({ value: { kind: "turn" } });
  });

  test("may send comments, empty choices, no usage and no end mark", async () => {
    const turn = await given(
      ": PROCESSING\n\n",
      event({ choices: [], prompt_filter_results: [{ prompt_index: 0 }] }),
      chunk({ content: "Hi" }),
      event({ object: "ping" }),
      chunk({}, "stop"),
    );
    expect(turn).toMatchObject({ finishReason: "stop", usage: undefined });
  });

  test("keeps its connections for the next requests", async () => {
    const provider = chatProvider({ apiKey: key, baseUrl: server.url });
    const before = server.requests.length;
    const requests = 20;
    for (let count = 0; count < requests; count++) {
      await turnOf(provider.stream(request(), new AbortController().signal));
    }
    const ports = server.requests.slice(before).map(({ clientPort }) => clientPort);
    expect(ports).toHaveLength(requests);
    expect(new Set(ports).size).toBeLessThan(requests);
  });

  test("ends at the end mark, even if its connection stays open", async () => {
    const number = server.requests.length + 1;
    const turn = await given(whole, never);
    expect(turn.finishReason).toBe("stop");
    expect(await (await server.request(number)).ended).toBe("cut");
  });
});

describe("a model that gives no answer", () => {
  test.each(["data: {oops\n\n", "data: 42\n\n", 'data: {"choices":[{"delta":[]}]}\n\n'])(
    "is malformed when a chunk is %j",
    async (body) => {
      const failure = await failureOf({ body: [body, whole] });
      expect(failure).toMatchObject({ reason: "malformed", retryable: true });
    },
  );

  test("is unavailable when a proxy reports an error with an HTML page", async () => {
    const page = { "content-type": "text/html" };
    const failure = await failureOf({ status: 502, headers: page, body: ["<h1>Bad Gateway</h1>"] });
    expect(failure.reason).toBe("unavailable");
  });

  test.each([
    [{ code: 429, message: "slow down" }, "rate_limited"],
    [{ type: "server_error", message: "oops" }, "unavailable"],
    [{ type: "invalid_request_error", message: "what?" }, "invalid"],
    [{ type: "not_found_error", message: "no such model" }, "unknown_model"],
    [{ type: "billing_error", message: "no credit" }, "no_credit"],
  ])("may report a failure within the stream: %j", async (error, reason) => {
    const failure = await failureOf({ body: [chunk({ content: "Hi" }), event({ error })] });
    expect(failure.reason).toBe(reason);
  });
});

const badRequest = { type: "invalid_request_error", param: null, code: null };

test.each([
  [400, { ...badRequest, message: "Invalid image." }, "invalid"],
  [422, { message: "cannot decode" }, "invalid"],
  [400, { ...badRequest, code: "invalid_image_format" }, "invalid"],
  [400, { ...badRequest, code: "invalid_value", param: "messages[0].content[1].type" }, "invalid"],
  [400, { ...badRequest, code: "unsupported_parameter", param: "max_tokens" }, "unsupported"],
  [400, { ...badRequest, code: "model_not_found" }, "unknown_model"],
  [400, { type: "invalid_request_error", message: "temperature: range: 0..1" }, "unsupported"],
  [404, { ...badRequest, message: "no such model" }, "unknown_model"],
  [405, { message: "not allowed" }, "unsupported"],
  [402, { message: "pay" }, "no_credit"],
  [400, { ...badRequest, message: "Your credit balance is too low to use the API." }, "no_credit"],
])(
  "an answer with status %i and %j is a failure for its own reason",
  async (status, error, reason) => {
    const headers = { "content-type": "application/json" };
    const failure = await failureOf({ status, headers, body: [JSON.stringify({ error })] });
    expect(failure).toMatchObject({ reason, retryable: false });
  },
);

describe("an abort", () => {
  test("before the request sends none", async () => {
    const count = server.requests.length;
    const reason = new Error("enough");
    await expect(Array.fromAsync(ask(request(), AbortSignal.abort(reason)))).rejects.toBe(reason);
    expect(server.requests).toHaveLength(count);
  });

  test("is not needed to close an answer that is no longer read", async () => {
    const number = server.requests.length + 1;
    server.program({ body: [chunk({ content: "Hi" }), never] });
    for await (const part of ask()) {
      expect(part.kind).toBe("text");
      break;
    }
    const seen = await server.request(number);
    expect(await seen.ended).toBe("cut");
  });
});
