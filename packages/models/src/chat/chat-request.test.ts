import { describe, expect, test } from "vitest";
import { requestFor, searchTool } from "../../test/support/parts.ts";
import { chatRequest } from "./chat-request.ts";

const bodyOf = (...given: Parameters<typeof requestFor>) =>
  chatRequest(requestFor(...given), "max_tokens");

describe("a request of chat completions", () => {
  test("has notes as separate parts after messages and results", () => {
    const { messages } = bodyOf({
      messages: [
        { role: "user", text: "hello", notes: ["a plan", "a memory"] },
        {
          role: "tool",
          providerCallId: "c1",
          name: "t",
          content: "",
          isError: false,
          notes: ["70%"],
        },
        { role: "user", text: "bare", notes: [] },
      ],
    });
    expect(messages).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "hello" },
          { type: "text", text: "a plan" },
          { type: "text", text: "a memory" },
        ],
      },
      { role: "tool", tool_call_id: "c1", content: [{ type: "text", text: "70%" }] },
      { role: "user", content: "bare" },
    ]);
  });

  test("disables parallel calls only if there are tools and the request forbids it", () => {
    const tools = [searchTool];
    expect(bodyOf({ tools, parallelToolCalls: false })).toMatchObject({
      parallel_tool_calls: false,
    });
    expect(bodyOf({ tools })).not.toHaveProperty("parallel_tool_calls");
    expect(bodyOf({ parallelToolCalls: false })).not.toHaveProperty("parallel_tool_calls");
  });

  test("sends a turn of another format by its text and calls", () => {
    const { messages } = bodyOf({
      messages: [
        {
          role: "verbatim",
          messageJson: '{"output":[]}',
          format: "openai.responses",
          text: "",
          calls: [{ providerCallId: "c1", name: "search", argumentsText: '{"q":1}' }],
        },
        { role: "verbatim", messageJson: "{}", format: "anthropic.messages", text: "Hi" },
        { role: "verbatim", messageJson: '{"role":"assistant"}', format: "openai.chat", text: "x" },
      ],
    });
    const call = { id: "c1", type: "function", function: { name: "search", arguments: '{"q":1}' } };
    expect(messages).toEqual([
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "assistant", content: "Hi" },
      { role: "assistant" },
    ]);
  });
});
