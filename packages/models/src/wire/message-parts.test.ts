import { expect, test } from "vitest";
import { answerParts, promptParts } from "./message-parts.ts";

const call = { providerCallId: "c1", name: "search", argumentsText: '{"q":"x"}' };
const callPart = { type: "tool_call", id: "c1", name: "search", arguments: '{"q":"x"}' };

test("a prompt is converted message by message", () => {
  expect(
    promptParts([
      { role: "user", text: "look", notes: ["be brief"] },
      { role: "verbatim", messageJson: "{}", text: "", calls: [call] },
      { role: "tool", providerCallId: "c1", name: "search", content: "found", isError: false },
      { role: "assistant", text: "there" },
    ]),
  ).toEqual([
    {
      role: "user",
      parts: [
        { type: "text", content: "look" },
        { type: "text", content: "be brief" },
      ],
    },
    { role: "assistant", parts: [callPart] },
    { role: "tool", parts: [{ type: "tool_call_response", id: "c1", response: "found" }] },
    { role: "assistant", parts: [{ type: "text", content: "there" }] },
  ]);
});

test("an answer includes its calls and its finish reason", () => {
  const turn = { messageJson: "{}", finishReason: "tool_calls", usage: undefined, model: "m" };
  expect(answerParts("I look.", { ...turn, calls: [call] })).toEqual([
    {
      role: "assistant",
      parts: [{ type: "text", content: "I look." }, callPart],
      finish_reason: "tool_calls",
    },
  ]);
});
