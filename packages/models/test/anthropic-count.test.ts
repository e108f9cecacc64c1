import { afterAll, beforeAll, expect, test } from "vitest";
import type { ModelServer } from "@reeve/test/support/model-server";
import { startModelServer } from "@reeve/test/support/model-server";
import { anthropicProvider } from "../src/anthropic/anthropic-provider.ts";
import { requestFor, searchTool } from "./support/parts.ts";

const { signal } = new AbortController();
let server: ModelServer;

beforeAll(async () => {
  server = await startModelServer();
});

afterAll(() => server[Symbol.asyncDispose]());

const count = () =>
  anthropicProvider({
    apiKey: "sk-secret",
    baseUrl: server.url.replace(/\/v1$/, ""),
  }).countTokens?.(
    requestFor({
      instructions: "be brief",
      messages: [{ role: "user", text: "hi" }],
      tools: [searchTool],
    }),
    signal,
  );

test("the Messages API counts the request that would be sent", async () => {
  server.program({ body: [`{"input_tokens": 1234}`] });
  expect(await count()).toBe(1_234);
  const sent = server.requests.at(-1);
  expect(sent).toMatchObject({ path: "/v1/messages/count_tokens" });
  expect(sent?.body).toMatchObject({ model: "some-model", tools: [{ name: "search" }] });
  expect(sent?.body).not.toHaveProperty("stream");
  expect(sent?.body).not.toHaveProperty("max_tokens");
});

test("an answer without a count, and a server without the method, are failures of the provider", async () => {
  server.program({ body: [`{}`] });
  await expect(count()).rejects.toMatchObject({ reason: "malformed" });
  server.program({ status: 404, body: [`{"error":{"message":"not found"}}`] });
  await expect(count()).rejects.toMatchObject({ name: "ModelFailure" });
});
