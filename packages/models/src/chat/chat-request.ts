import type { ChatCompletionCreateParamsStreaming } from "openai/resources/chat/completions";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import type { ModelRequest, PromptMessage } from "@reeve/engine/ports/model-provider";
import type { PortableTurn } from "../wire/portable-turn.ts";
import { portableTurn } from "../wire/portable-turn.ts";

/** The format of the messages of chat completions. */
export const chatFormat = "openai.chat";

type Message = ChatCompletionCreateParamsStreaming["messages"][number];

/** The name of the field that limits an answer: OpenAI refuses the older one, compatible servers know only that. */
export type MaxTokensField = "max_tokens" | "max_completion_tokens";

/** A request as the API of chat completions takes it. */
export function chatRequest(
  { model, instructions, messages, tools, ...request }: ModelRequest,
  maxTokensField: MaxTokensField,
): ChatCompletionCreateParamsStreaming {
  const { parallelToolCalls, temperature, maxTokens } = request;
  const system: Message[] = instructions === "" ? [] : [{ role: "system", content: instructions }];
  return {
    model: model.upstreamName,
    stream: true,
    stream_options: { include_usage: true },
    messages: [...system, ...messages.map(messageOf)],
    ...(tools.length > 0 && { tools: tools.map(toolOf) }),
    // Left out where it says the usual thing: some servers do not know it, and OpenAI refuses it without tools.
    ...(tools.length > 0 && !parallelToolCalls && { parallel_tool_calls: false }),
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { [maxTokensField]: maxTokens }),
  };
}

function messageOf(message: PromptMessage): Message {
  switch (message.role) {
    case "user":
      return { role: "user", content: contentOf(message.text, message.notes) };
    case "assistant":
      return { role: "assistant", content: message.text };
    case "verbatim": {
      const foreign = portableTurn(message, chatFormat);
      // The provider's own message, as it was assembled from its answer.
      return foreign === undefined
        ? (JSON.parse(message.messageJson) as Message)
        : rebuilt(foreign);
    }
    case "tool": {
      const content = contentOf(message.content, message.notes);
      return { role: "tool", tool_call_id: message.providerCallId, content };
    }
  }
}

/** A text, or a list of parts when something stands beside it: not every server takes lists. */
function contentOf(text: string, notes: readonly string[] = []) {
  if (notes.length === 0) return text;
  const parts = [text, ...notes].filter((part) => part !== "");
  return parts.map((part) => ({ type: "text" as const, text: part }));
}

function rebuilt({ text, calls }: PortableTurn): Message {
  return {
    role: "assistant",
    content: text === "" && calls.length > 0 ? null : text,
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ providerCallId, name, argumentsText }) => ({
        id: providerCallId,
        type: "function" as const,
        function: { name, arguments: argumentsText },
      })),
    }),
  };
}

function toolOf({ name, description, inputSchema }: ToolDescriptor) {
  const parameters = inputSchema ?? { type: "object", properties: {} };
  return { type: "function" as const, function: { name, description, parameters } };
}
