import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { create } from "@bufbuild/protobuf";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { ModelSpecSchema } from "@reeve/contracts/agent";
import type { ImageRequest, MediaPart, MediaRequest } from "@reeve/engine/ports/media-generator";
import { maxFileBytes } from "@reeve/engine/ports/media-generator";
import { ModelFailure } from "@reeve/engine/ports/model-provider";
import { png } from "@reeve/jetstream/test/support/files/png";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chatProvider } from "../src/chat/chat-provider.ts";

type Answer = (response: ServerResponse) => void;

const never = new AbortController().signal;
const b64 = Buffer.from(png(64, 48)).toString("base64");
const sent: { path: string | undefined; body: unknown }[] = [];
let answer: Answer;
const server = createServer((request, response) => {
  void (async () => {
    let body = "";
    for await (const piece of request) body += String(piece);
    sent.push({ path: request.url, body: JSON.parse(body) });
    answer(response);
  })();
});

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});

afterAll(async () => {
  server.close();
  server.closeAllConnections();
  await once(server, "close");
});

const json =
  (body: object, status = 200): Answer =>
  (response) => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(body));
  };

const typed =
  (type: string, content: string | Uint8Array): Answer =>
  (response) => {
    response.writeHead(200, { "content-type": type });
    response.end(content);
  };

function modelOf(model: MessageInitShape<typeof ModelSpecSchema>) {
  return create(ModelSpecSchema, { provider: "openai", upstreamName: "painter", ...model });
}

const image: ImageRequest = {
  kind: "image",
  model: modelOf({}),
  prompt: "a cat",
  count: 1,
  size: "64x48",
  quality: undefined,
  format: "png",
};

/** Returns what a request generates. */
async function partsOf(request: MediaRequest, signal = never): Promise<readonly MediaPart[]> {
  const { port } = server.address() as AddressInfo;
  const { media } = chatProvider({ apiKey: "k", baseUrl: `http://127.0.0.1:${port}/v1` });
  const parts: MediaPart[] = [];
  for await (const part of media?.generate(request, signal) ?? []) parts.push(part);
  return parts;
}

async function failureOf(request: MediaRequest = image): Promise<ModelFailure> {
  const error: unknown = await partsOf(request).catch((caught: unknown) => caught);
  if (error instanceof ModelFailure) return error;
  throw new Error("the generation did not fail", { cause: error });
}

const usage = { input_tokens: 9, output_tokens: 200 };

/** Returns an event with an image. */
const event = (type: string, more: object = {}) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, b64_json: b64, ...more })}\n\n`;

// Requirement: CHAT-1
describe("images", () => {
  test("are returned with the tokens that they used", async () => {
    answer = json({ data: [{ b64_json: b64 }, { b64_json: b64 }], usage });
    const parts = await partsOf({ ...image, count: 2 });
    expect(parts.map(({ kind }) => kind)).toEqual(["file", "file", "usage"]);
    expect(parts.at(-1)).toEqual({ kind: "usage", inputTokens: 9, outputTokens: 200 });
    expect(sent.at(-1)).toEqual({
      path: "/v1/images/generations",
      body: {
        model: "painter",
        prompt: "a cat",
        n: 2,
        size: "64x48",
        response_format: "b64_json",
      },
    });
  });

  test("are asked for in another format than png, unless the model knows none", async () => {
    answer = json({ data: [{ b64_json: b64 }] });
    const formats: unknown[] = [];
    for (const upstreamName of ["dall-e-3", "flux-1", "gpt-image-1"]) {
      await partsOf({ ...image, model: modelOf({ upstreamName }), format: "webp" });
      formats.push(sent.at(-1)?.body);
    }
    expect(formats[0]).not.toHaveProperty("output_format");
    expect(formats.slice(1)).toMatchObject([{ output_format: "webp" }, { output_format: "webp" }]);
  });

  test("of a model that streams come after partial ones", async () => {
    const partial = event("image_generation.partial_image");
    const completed = event("image_generation.completed", { usage });
    answer = typed("text/event-stream", `${partial}${partial}${completed}`);
    const model = modelOf({ upstreamName: "gpt-image-1", partialImages: 2 });
    const parts = await partsOf({ ...image, model, format: "webp" });
    expect(parts.map(({ kind }) => kind)).toEqual(["partial", "partial", "file", "usage"]);
    expect(sent.at(-1)?.body).toMatchObject({
      stream: true,
      partial_images: 2,
      output_format: "webp",
    });
    answer = typed("text/event-stream", partial);
    expect(await failureOf({ ...image, model })).toMatchObject({ answerBegan: true });
  });

  test.each<[string, Answer, object]>([
    [
      "a refused prompt",
      json({ error: { code: "moderation_blocked", message: "not this" } }, 400),
      { reason: "refused", retryable: false },
    ],
    [
      "a provider that is busy",
      json({ error: {} }, 429),
      { reason: "rate_limited", retryable: true },
    ],
    [
      "a page",
      typed("text/html", "<html>"),
      { reason: "malformed", retryable: false, message: expect.stringContaining("text/html") },
    ],
    ["an answer that is no JSON", typed("application/json", "{"), { reason: "malformed" }],
    ["an answer without images", json({ created: 1 }), { reason: "malformed" }],
    [
      "an address instead of an image",
      json({ data: [{ url: "http://127.0.0.1/a.png" }] }),
      { message: expect.stringContaining("the address of an image") },
    ],
  ])("fail with %s", async (_, given, expected) => {
    answer = given;
    expect(await failureOf()).toMatchObject(expected);
  });

  test.each<[string, Answer, object]>([
    [
      "cut off within its body",
      (response) => {
        response.writeHead(200, { "content-type": "application/json" });
        response.write('{"data":[{"b64_json":"AAAA', () => setImmediate(() => response.destroy()));
      },
      { reason: "unavailable", answerBegan: true, isUnprocessed: false },
    ],
    [
      "cut off before its headers",
      (response) => void response.destroy(),
      { reason: "unavailable", answerBegan: false, isUnprocessed: false },
    ],
    ["a timeout of a proxy", json({}, 504), { reason: "unavailable", isUnprocessed: false }],
    ["a server without capacity", json({}, 503), { reason: "unavailable", isUnprocessed: true }],
    ["a provider that is busy", json({}, 429), { reason: "rate_limited", isUnprocessed: true }],
  ])("say whether an answer may be billed: %s", async (_, given, expected) => {
    answer = given;
    expect(await failureOf()).toMatchObject(expected);
  });

  test("are not billed by a server that cannot be reached", async () => {
    const closed = createServer();
    closed.listen(0, "127.0.0.1");
    await once(closed, "listening");
    const { port } = closed.address() as AddressInfo;
    closed.close();
    await once(closed, "close");
    const { media } = chatProvider({ apiKey: "k", baseUrl: `http://127.0.0.1:${port}/v1` });
    const parts = media?.generate(image, never)[Symbol.asyncIterator]();
    await expect(parts?.next()).rejects.toMatchObject({
      reason: "unavailable",
      isUnprocessed: true,
    });
  });

  test("that are too large are not read to their end", async () => {
    const chunk = Buffer.alloc(2 ** 20, "A");
    const { promise: isClosed, resolve } = Promise.withResolvers<void>();
    answer = (response) => {
      response.once("close", resolve);
      response.writeHead(200, { "content-type": "application/json" });
      // Never ends: each chunk is written once the one before it was taken.
      const more = () => void response.write(chunk, () => setImmediate(more));
      more();
    };
    expect(await failureOf()).toMatchObject({ reason: "malformed", answerBegan: true });
    await isClosed;
  });

  test("are no longer generated for a request that was aborted", async () => {
    const { promise: isAsked, resolve: asked } = Promise.withResolvers<void>();
    const { promise: isClosed, resolve: closed } = Promise.withResolvers<void>();
    answer = (response) => {
      response.once("close", closed);
      asked();
    };
    const stop = new AbortController();
    const parts = partsOf(image, stop.signal);
    await isAsked;
    stop.abort(new Error("enough"));
    await expect(parts).rejects.toThrow("enough");
    await isClosed;
  });
});

const speech: MediaRequest = {
  kind: "speech",
  model: modelOf({ upstreamName: "speaker" }),
  text: "Hello.",
  voice: undefined,
  instructions: undefined,
  format: "mp3",
};

describe("speech", () => {
  test("is returned as bytes", async () => {
    answer = typed("audio/mpeg", Buffer.from("ID3\x04"));
    expect(await partsOf(speech)).toEqual([{ kind: "file", bytes: Buffer.from("ID3\x04") }]);
    expect(sent.at(-1)).toMatchObject({
      path: "/v1/audio/speech",
      body: { model: "speaker", input: "Hello.", voice: "alloy", response_format: "mp3" },
    });
  });

  test("fails with a page, and if it is too long", async () => {
    answer = typed("text/html", "<html>");
    expect(await failureOf(speech)).toMatchObject({ reason: "malformed" });
    answer = typed("audio/mpeg", Buffer.alloc(maxFileBytes + 1));
    expect(await failureOf(speech)).toMatchObject({
      message: expect.stringContaining("longer than"),
    });
  });
});
