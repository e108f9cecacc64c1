import type { ChatCompletionCreateParamsStreaming } from "openai/resources/chat/completions";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import type { ModelRequest, PromptMessage } from "../../ports/model-provider.ts";

type Message = ChatCompletionCreateParamsStreaming["messages"][number];

/** The name of the field that limits an answer: OpenAI refuses the older one, compatible servers know only that. */
export type MaxTokensField = "max_tokens" | "max_completion_tokens";

/** A request as the API of chat completions takes it. */
export function openaiRequest(
  { model, instructions, messages, tools, temperature, maxTokens }: ModelRequest,
  maxTokensField: MaxTokensField,
): ChatCompletionCreateParamsStreaming {
  const system: Message[] = instructions === "" ? [] : [{ role: "system", content: instructions }];
  return {
    model: model.upstreamName,
    stream: true,
    stream_options: { include_usage: true },
    messages: [...system, ...messages.map(messageOf)],
    ...(tools.length > 0 && { tools: tools.map(toolOf) }),
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { [maxTokensField]: maxTokens }),
  };
}

function messageOf(message: PromptMessage): Message {
  switch (message.role) {
    case "user":
      return { role: "user", content: withNotes(message.text, message.notes) };
    case "assistant":
      return { role: "assistant", content: message.text };
    case "verbatim":
      // The provider's own message, as it was assembled from its answer.
      return JSON.parse(message.messageJson) as Message;
    case "tool":
      return {
        role: "tool",
        tool_call_id: message.providerCallId,
        content: withNotes(message.content, message.notes),
      };
  }
}

/** Notes stand apart from what was said: each is a part of its own. Without any, the text stays plain text. */
function withNotes(text: string, notes: readonly string[] = []) {
  if (notes.length === 0) return text;
  return [text, ...notes].map((part) => ({ type: "text" as const, text: part }));
}

function toolOf({ name, description, inputSchema }: ToolDescriptor) {
  const parameters = inputSchema ?? { type: "object", properties: {} };
  return { type: "function" as const, function: { name, description, parameters } };
}
