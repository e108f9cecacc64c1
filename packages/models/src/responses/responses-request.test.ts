import { create } from "@bufbuild/protobuf";
import { ProviderCapabilitiesSchema } from "@reeve/contracts/agent";
import { describe, expect, test } from "vitest";
import type { PromptMessage } from "@reeve/engine/ports/model-provider";
import { requestFor, searchTool } from "../../test/support/parts.ts";
import { responsesFormat, responsesRequest } from "./responses-request.ts";

const recorded = (...output: readonly object[]) => ({
  role: "verbatim" as const,
  messageJson: JSON.stringify({ output }),
  format: responsesFormat,
});

const inputOf = (...messages: readonly PromptMessage[]) =>
  responsesRequest(requestFor({ messages }), undefined).input;

const secret = { type: "reasoning", id: "rs_1", encrypted_content: "gAAAA", summary: [] };
const call = { type: "function_call", id: "fc_1", call_id: "c1", name: "search", arguments: "{" };

describe("a request of the Responses API", () => {
  test("contains the whole conversation, because the provider stores nothing", () => {
    const request = requestFor({
      instructions: "be brief",
      messages: [
        { role: "user", text: "hello" },
        { role: "assistant", text: "hi" },
        { role: "user", text: "look", notes: ["a plan"] },
        recorded(secret, call),
        { role: "tool", providerCallId: "c1", name: "search", content: "bad", isError: true },
      ],
      tools: [searchTool],
      parallelToolCalls: false,
      temperature: 0,
      maxTokens: 100,
    });
    expect(responsesRequest(request, "auto")).toEqual({
      model: "some-model",
      stream: true,
      store: false,
      include: ["reasoning.encrypted_content"],
      reasoning: { summary: "auto" },
      instructions: "be brief",
      input: [
        { role: "user", content: "hello" },
        { role: "assistant", content: "hi" },
        {
          role: "user",
          content: [
            { type: "input_text", text: "look" },
            { type: "input_text", text: "a plan" },
          ],
        },
        secret,
        call,
        { type: "function_call_output", call_id: "c1", output: "bad" },
      ],
      tools: [
        {
          type: "function",
          name: "search",
          description: "Searches",
          parameters: { type: "object", properties: { q: { type: "string" } } },
          strict: false,
        },
      ],
      parallel_tool_calls: false,
      temperature: 0,
      max_output_tokens: 100,
    });
  });

  test("has notes as separate parts after a result", () => {
    const result = {
      role: "tool" as const,
      providerCallId: "c1",
      name: "search",
      content: "found",
      isError: false,
      notes: ["70%"],
    };
    expect(inputOf(result)).toEqual([
      {
        type: "function_call_output",
        call_id: "c1",
        output: [
          { type: "input_text", text: "found" },
          { type: "input_text", text: "70%" },
        ],
      },
    ]);
  });

  test("requests and sends no reasoning for a model without reasoning", () => {
    const capabilities = create(ProviderCapabilitiesSchema, { tools: true });
    const request = requestFor({ messages: [recorded(secret, call)] }, { capabilities });
    const body = responsesRequest(request, "auto");
    expect(body).not.toHaveProperty("include");
    expect(body).not.toHaveProperty("reasoning");
    expect(body.input).toEqual([call]);
  });

  test("omits reasoning that the provider has not stored, or that has no continuation", () => {
    const empty = {
      type: "reasoning",
      id: "rs_2",
      summary: [{ type: "summary_text", text: "hm" }],
    };
    const open = { ...empty, content: [{ type: "reasoning_text", text: "hm" }] };
    expect(inputOf(recorded(empty, open, call, secret))).toEqual([open, call]);
  });

  test("sends a turn of another format by its text and calls", () => {
    const portable = {
      role: "verbatim" as const,
      messageJson: "{}",
      format: "openai.chat",
      text: "Let me look.",
      calls: [{ providerCallId: "c1", name: "search", argumentsText: "{}" }],
    };
    expect(inputOf(portable)).toEqual([
      { role: "assistant", content: "Let me look." },
      { type: "function_call", call_id: "c1", name: "search", arguments: "{}" },
    ]);
  });
});
