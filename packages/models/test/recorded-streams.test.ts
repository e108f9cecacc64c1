import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ModelServer, ProgrammedResponse } from "@reeve/test/support/model-server";
import { startModelServer } from "@reeve/test/support/model-server";
import type { ModelPart, ModelProvider } from "@reeve/engine/ports/model-provider";
import type { ProviderOptions } from "../src/wire/provider-options.ts";
import type { Answer } from "./support/answers.ts";
import { answerFrom, failureOf, requestOf } from "./support/answers.ts";
import { apis, fixture, reasoningSentBack, refusals } from "./apis.ts";

let server: ModelServer;
const key = "sk-secret-0123456789";
const never = new Promise<void>(() => undefined);
const neverAborted = new AbortController().signal;

beforeAll(async () => {
  server = await startModelServer();
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

const greeting = "Grüße aus Zürich 👋";
const weather = {
  name: "get_weather",
  argumentsText: JSON.stringify({ city: "Zürich", say: 'a "quoted" 👋' }),
};
const time = { name: "get_time", argumentsText: '{"zone":"Europe/Zurich"}' };
const commonUsage = {
  inputTokens: 25,
  outputTokens: 9,
  cachedInputTokens: 10,
  cacheWriteInputTokens: 0,
  reasoningTokens: 0,
};

/** Returns where a text first occurs. */
const placeOf = (bytes: Buffer, text: string) => bytes.indexOf(text);

describe.each(apis)("over $format, a recorded stream", (api) => {
  // Only Anthropic charges for writes to its cache.
  const usage = {
    ...commonUsage,
    cacheWriteInputTokens: api.format === "anthropic.messages" ? 10 : 0,
  };
  const bytesOf = (name: string) => fixture(api, name);
  const open = (options: Pick<ProviderOptions, "idleTimeoutMs"> = {}): ModelProvider =>
    api.open(server.url, { apiKey: key, ...options });

  async function answerTo(response: ProgrammedResponse, provider = open()): Promise<Answer> {
    server.program(response);
    return answerFrom(provider.stream(requestOf(), neverAborted));
  }

  const played = (name: string) => answerTo({ body: [bytesOf(name)] });

  test("of text yields the text, the usage, and the finish reason", async () => {
    const { text, turn } = await played("text");
    expect(text).toBe(greeting);
    expect(turn).toMatchObject({ finishReason: "stop", calls: [], usage });
    expect(server.requests.at(-1)?.path).toBe(api.path);
  });

  test("of a call has the call", async () => {
    const { text, turn } = await played("tool-call");
    expect(text).toBe("");
    expect(turn).toMatchObject({
      finishReason: "tool_calls",
      calls: [{ providerCallId: "call_wN3v", ...weather }],
      usage,
    });
  });

  test("of parallel calls has these calls in order, even byte by byte", async () => {
    const bytes = bytesOf("parallel-calls");
    const alone = Array.from(bytes, (_, place) => bytes.subarray(place, place + 1));
    const { turn } = await answerTo({ body: alone });
    expect(turn.calls).toEqual([
      { providerCallId: "call_wN3v", ...weather },
      { providerCallId: "call_b7Qe", ...time },
    ]);
    expect(turn).toEqual((await played("parallel-calls")).turn);
  });

  test.each(["duplicate-ids", "missing-ids"])(
    "with %s keeps every call, with distinct ids also in the message",
    async (name) => {
      const { turn } = await played(name);
      const ids = turn.calls.map(({ providerCallId }) => providerCallId);
      expect(turn.calls).toMatchObject([weather, time]);
      expect(new Set(ids).size).toBe(2);
      expect(ids[0]).toMatch(name === "duplicate-ids" ? /^call_wN3v$/ : /^call_[0-9a-f]{32}$/);
      expect(ids[1]).toMatch(/^call_[0-9a-f]{32}$/);
      expect(api.idsIn(turn.messageJson)).toEqual(ids);
    },
  );

  // Requirement: LOOP-4
  test("of reasoning is separate from the text, and is sent back verbatim", async () => {
    const { text, reasoning, turn } = await played("reasoning");
    expect({ text, reasoning }).toEqual({ text: greeting, reasoning: "The user greets me." });
    expect(turn.usage).toEqual({ ...usage, reasoningTokens: 4 });
    const next = requestOf([
      { role: "verbatim", messageJson: turn.messageJson, format: api.format },
      { role: "user", text: "and now?" },
    ]);
    server.program({ body: [bytesOf("text")] });
    await answerFrom(open().stream(next, neverAborted));
    const sent = api.conversation(server.requests.at(-1)?.body ?? {});
    const expected = reasoningSentBack(api);
    const first = sent.findIndex((item) => JSON.stringify(item) === JSON.stringify(expected[0]));
    expect(sent.slice(first, first + expected.length)).toEqual(expected);
    expect(first).toBeGreaterThan(0);
  });

  test("that the token limit cuts reports it", async () => {
    const { text, turn } = await played("length");
    expect(text).toBe(greeting);
    expect(turn.finishReason).toBe("length");
  });

  test("without usage has no usage", async () => {
    expect((await played("without-usage")).turn.usage).toBeUndefined();
  });

  test("may have keep-alive comments and carriage returns", async () => {
    const text = bytesOf("text").toString();
    const noisy = `: connected\n\n${text.replaceAll("\n\n", "\n\n: keep-alive\n\n")}`;
    expect(await answerTo({ body: [noisy.replaceAll("\n", "\r\n")] })).toEqual(
      await played("text"),
    );
  });

  test.each(["filtered", "refusal"])("that contains only a %s result is refused", async (name) => {
    expect(await failureOf(played(name))).toMatchObject({ reason: "refused", retryable: false });
  });

  test("with an unreadable chunk is malformed", async () => {
    const failure = await failureOf(played("malformed"));
    expect(failure).toMatchObject({ reason: "malformed", retryable: true });
    expect(failure.message).not.toContain("and");
  });

  test("with an error in the stream fails with that error, after the text before it", async () => {
    server.program({ body: [bytesOf("error-in-the-middle")] });
    const parts: ModelPart[] = [];
    const reading = async () => {
      for await (const part of open().stream(requestOf(), neverAborted)) parts.push(part);
    };
    expect(await failureOf(reading())).toMatchObject({ reason: "unavailable", retryable: true });
    expect(parts.every(({ kind }) => kind === "text")).toBe(true);
  });

  test.each([
    ["in a character", (bytes: Buffer) => placeOf(bytes, "👋") + 2],
    ["in a chunk", (bytes: Buffer) => placeOf(bytes, "Zürich") + 3],
    ["between two chunks", (bytes: Buffer) => bytes.indexOf("\n\n", placeOf(bytes, "Zürich")) + 2],
    ["before any text", () => 0],
  ])("that is cut %s is unavailable, however it ends", async (_, place) => {
    const bytes = bytesOf("text");
    for (const end of ["cut", "whole"] as const) {
      const answering = answerTo({ body: [bytes.subarray(0, place(bytes))], end });
      expect(await failureOf(answering)).toMatchObject({ reason: "unavailable", retryable: true });
    }
  });

  test("that is cut tells whether it had begun, with nothing but a tool call, too", async () => {
    const bytes = bytesOf("tool-call");
    const begun = bytes.indexOf("\n\n", placeOf(bytes, "get_weather")) + 2;
    for (const end of ["cut", "whole"] as const) {
      const ofCall = await failureOf(answerTo({ body: [bytes.subarray(0, begun)], end }));
      expect(ofCall).toMatchObject({ reason: "unavailable", answerBegan: true });
      const ofNothing = await failureOf(answerTo({ body: [bytes.subarray(0, 0)], end }));
      expect(ofNothing).toMatchObject({ reason: "unavailable", answerBegan: false });
    }
  });

  test("that is cut after its end is complete", async () => {
    const bytes = bytesOf("text");
    // The Responses API reports the end with its last event, the others before it.
    const lastEvent = bytes.lastIndexOf("\n\n", -3) + 2;
    const end = api.format === "openai.responses" ? bytes.length : lastEvent;
    const { turn } = await answerTo({ body: [bytes.subarray(0, end)], end: "cut" });
    expect(turn).toMatchObject({ finishReason: "stop", usage });
  });

  test("that has not started is aborted by the signal, together with its connection", async () => {
    server.program({ body: [never], holdsHeaders: true });
    const number = server.requests.length + 1;
    const end = new AbortController();
    const answering = answerFrom(open().stream(requestOf(), end.signal));
    const seen = await server.request(number);
    const reason = new Error("enough");
    end.abort(reason);
    await expect(answering).rejects.toBe(reason);
    expect(await seen.ended).toBe("cut");
  });

  test("in progress is aborted by the signal, together with its connection", async () => {
    const bytes = bytesOf("text");
    server.program({ body: [bytes.subarray(0, placeOf(bytes, " Zürich")), never] });
    const number = server.requests.length + 1;
    const end = new AbortController();
    const parts = open().stream(requestOf(), end.signal)[Symbol.asyncIterator]();
    expect(await parts.next()).toMatchObject({ value: { kind: "text" } });
    const seen = await server.request(number);
    const reason = new Error("enough");
    const next = parts.next();
    end.abort(reason);
    await expect(next).rejects.toBe(reason);
    expect(await seen.ended).toBe("cut");
  });

  test("that is idle fails after the timeout, before its start or within it", async () => {
    const bytes = bytesOf("text");
    const silent = [
      { body: [never], holdsHeaders: true },
      { body: [never] },
      { body: [bytes.subarray(0, placeOf(bytes, "Zürich")), never] },
    ];
    const provider = open({ idleTimeoutMs: 50 });
    for (const response of silent) {
      expect(await failureOf(answerTo(response, provider))).toMatchObject({
        reason: "unavailable",
        retryable: true,
        message: expect.stringContaining("no byte came for 0.05 seconds"),
      });
    }
  });

  test.each(["text/html; charset=utf-8", "application/json"])(
    "that is a page of %s is refused once, and says which setting to check",
    async (type) => {
      const page = { headers: { "content-type": type }, body: ["<!doctype html><p>Hello</p>"] };
      expect(await failureOf(answerTo(page))).toMatchObject({
        retryable: false,
        message: expect.stringMatching(
          /answered with (text\/html|application\/json) and no events; check (OPENAI|ANTHROPIC)_BASE_URL$/,
        ),
      });
    },
  );

  test.each(refusals(api))(
    "is refused for $name: $status is $reason",
    async ({ status, headers, body, reason, retryable, retryAfterMs }) => {
      const text = JSON.stringify(body).replaceAll("KEY", key);
      const failure = await failureOf(
        answerTo({
          status,
          headers: { "content-type": "application/json", ...headers },
          body: [text],
        }),
      );
      expect(failure).toMatchObject({ reason, retryAfterMs });
      const passes = ["rate_limited", "unavailable"].includes(reason);
      expect(failure.retryable).toBe(retryable ?? passes);
      expect(failure.message).toContain(`answered ${status}: `);
      expect(failure.message).not.toContain(key);
    },
  );

  test("may ask to wait until a date, and its failure never contains the key", async () => {
    const date = new Date(Date.now() + 60_000).toUTCString();
    const body = JSON.stringify({ error: { message: `too much for ${key}` } });
    const failure = await failureOf(
      answerTo({
        status: 429,
        headers: { "content-type": "application/json", "retry-after": date },
        body: [body],
      }),
    );
    expect(failure.retryAfterMs).toBeGreaterThan(50_000);
    expect(failure.retryAfterMs).toBeLessThanOrEqual(60_000);
    expect(failure.message).toMatch(/answered 429: too much for \[key\]$/);
  });

  test("that is an error page of a proxy is unavailable", async () => {
    const headers = { "content-type": "text/html" };
    const page = { status: 502, headers, body: ["<h1>Bad Gateway</h1>"] };
    expect((await failureOf(answerTo(page))).reason).toBe("unavailable");
  });

  test("from an unreachable server is unavailable", async () => {
    const gone = await startModelServer();
    await gone[Symbol.asyncDispose]();
    const provider = api.open(gone.url, { apiKey: key });
    expect(await failureOf(answerFrom(provider.stream(requestOf(), neverAborted)))).toMatchObject({
      reason: "unavailable",
      message: expect.stringContaining("ECONNREFUSED"),
    });
  });
});

describe("a recorded stream", () => {
  const [chat, responses] = apis;

  async function playedBy(api: typeof chat, name: string): Promise<Answer> {
    if (api === undefined) throw new Error("no such API");
    server.program({ body: [fixture(api, name)] });
    const provider = api.open(server.url, { apiKey: key });
    return answerFrom(provider.stream(requestOf(), neverAborted));
  }

  test("of chat completions may hold chunks without a choice", async () => {
    const { text, turn } = await playedBy(chat, "empty-choices");
    expect(text).toBe(greeting);
    expect(turn).toMatchObject({
      finishReason: "stop",
      usage: commonUsage,
      model: "gpt-5.4-mini-2026-03-17",
    });
  });

  test("of the Responses API that ends with a failure fails with it", async () => {
    expect(await failureOf(playedBy(responses, "failed"))).toMatchObject({
      reason: "rate_limited",
      retryable: true,
    });
  });
});
