import { create } from "@bufbuild/protobuf";
import { ProviderCapabilitiesSchema } from "@reeve/contracts/agent";
import { describe, expect, test } from "vitest";
import type { PromptMessage } from "@reeve/engine/ports/model-provider";
import { requestFor, searchTool } from "../../test/support/parts.ts";
import { anthropicFormat } from "./anthropic-messages.ts";
import { anthropicProvider } from "./anthropic-provider.ts";
import { anthropicRequest } from "./anthropic-request.ts";

const cache_control = { type: "ephemeral" };
const hello: PromptMessage = { role: "user", text: "hello" };
const text = (content: string) => ({ type: "text", text: content });

const messagesOf = (...messages: readonly PromptMessage[]) =>
  anthropicRequest(requestFor({ messages }), undefined).messages;

const recorded = (...content: readonly object[]): PromptMessage => ({
  role: "verbatim",
  messageJson: JSON.stringify({ role: "assistant", content }),
  format: anthropicFormat,
});

const result = (id: string, given: Partial<Extract<PromptMessage, { role: "tool" }>> = {}) => ({
  role: "tool" as const,
  providerCallId: id,
  name: "search",
  content: `result of ${id}`,
  isError: false,
  ...given,
});

describe("a request of the Messages API", () => {
  test("has the prompt, the tools, cache marks, and no temperature", () => {
    const request = requestFor({
      instructions: "be brief",
      messages: [hello],
      tools: [searchTool],
      parallelToolCalls: false,
      temperature: 0.2,
      maxTokens: 100,
    });
    expect(anthropicRequest(request, undefined)).toEqual({
      model: "some-model",
      stream: true,
      max_tokens: 100,
      system: [{ type: "text", text: "be brief", cache_control }],
      messages: [{ role: "user", content: [{ ...text("hello"), cache_control }] }],
      tools: [
        {
          name: "search",
          description: "Searches",
          input_schema: { type: "object", properties: { q: { type: "string" } } },
        },
      ],
      tool_choice: { type: "auto", disable_parallel_tool_use: true },
    });
  });

  test("has no temperature, which its provider announces", () => {
    const { descriptor } = anthropicProvider({ apiKey: "k" });
    expect(descriptor.capabilities?.temperature).toBe(false);
  });

  test("marks the last tool if there is no system prompt", () => {
    const { tools } = anthropicRequest(requestFor({ tools: [searchTool, searchTool] }), undefined);
    expect(tools?.map((tool) => "cache_control" in tool)).toEqual([false, true]);
  });

  test("limits the answer by the model's maximum, or by the default", () => {
    const { max_tokens: known } = anthropicRequest(
      requestFor({}, { maxOutputTokens: 64_000 }),
      undefined,
    );
    expect(known).toBe(64_000);
    expect(anthropicRequest(requestFor(), undefined).max_tokens).toBe(16_000);
  });

  test("enables thinking if it is configured and the model supports it", () => {
    const thinking = { type: "adaptive", display: "summarized" };
    expect(anthropicRequest(requestFor(), "adaptive")).toMatchObject({ thinking });
    const capabilities = create(ProviderCapabilitiesSchema, { tools: true });
    const plain = anthropicRequest(requestFor({}, { capabilities }), "adaptive");
    expect(plain).not.toHaveProperty("thinking");
  });

  test("has all results of a turn in one message, in order, then notes, then the user's message", () => {
    const calls = [
      { type: "thinking", thinking: "hm", signature: "s" },
      { type: "tool_use", id: "a", name: "search", input: {} },
      { type: "tool_use", id: "b", name: "search", input: {} },
    ];
    expect(
      messagesOf(
        hello,
        recorded(...calls),
        result("a", { notes: ["70%"] }),
        result("b", { isError: true, notes: ["71%"] }),
        { role: "user", text: "go on", notes: ["a plan"] },
      ),
    ).toEqual([
      { role: "user", content: [text("hello")] },
      { role: "assistant", content: calls },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "a", content: "result of a" },
          { type: "tool_result", tool_use_id: "b", content: "result of b", is_error: true },
          text("70%"),
          text("71%"),
          text("go on"),
          { ...text("a plan"), cache_control },
        ],
      },
    ]);
  });

  test("omits blank texts, which the API refuses, and empty turns", () => {
    const quiet = recorded(text("\n"), { type: "tool_use", id: "a", name: "search", input: {} });
    expect(messagesOf(hello, recorded(), quiet, result("a", { notes: [" "] }))).toMatchObject([
      { role: "user" },
      { role: "assistant", content: [{ type: "tool_use" }] },
      { role: "user", content: [{ type: "tool_result" }] },
    ]);
  });

  test("starts with the user even if the conversation does not", () => {
    const [first, second] = messagesOf({ role: "assistant", text: "Welcome!" }, hello);
    expect(first?.role).toBe("user");
    expect(second).toEqual({ role: "assistant", content: [text("Welcome!")] });
  });

  test("sends a turn of another format by its text and calls, with ids that the API accepts", () => {
    const portable: PromptMessage = {
      role: "verbatim",
      messageJson: "{}",
      format: "openai.chat",
      text: "Let me look.",
      calls: [
        { providerCallId: "functions.search:0", name: "search", argumentsText: '{"q":"x"}' },
        { providerCallId: "c2", name: "search", argumentsText: '{"q":' },
        { providerCallId: "c3", name: "search", argumentsText: "" },
      ],
    };
    const [, turn, results] = messagesOf(hello, portable, result("functions.search:0"));
    const id = "functions_2e_search_3a_0";
    expect(turn?.content).toEqual([
      text("Let me look."),
      { type: "tool_use", id, name: "search", input: { q: "x" } },
      { type: "tool_use", id: "c2", name: "search", input: { unparsed: '{"q":' } },
      { type: "tool_use", id: "c3", name: "search", input: {} },
    ]);
    expect(results?.content).toMatchObject([{ tool_use_id: id }]);
  });
});
