import type {
  ChatCompletionContentPart,
  ChatCompletionCreateParamsStreaming,
} from "openai/resources/chat/completions";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import type { ModelRequest, PromptMessage } from "@reeve/engine/ports/model-provider";
import type { LoadedFiles, LoadedPart } from "../wire/loaded-parts.ts";
import { dataUrl, loadedImages, loadedParts } from "../wire/loaded-parts.ts";
import type { PortableTurn } from "../wire/portable-turn.ts";
import { portableTurn } from "../wire/portable-turn.ts";

/** The message format of chat completions. */
export const chatFormat = "openai.chat";

type Message = ChatCompletionCreateParamsStreaming["messages"][number];

/** The field that limits an answer: OpenAI refuses the older name, and compatible servers accept only that. */
export type MaxTokensField = "max_tokens" | "max_completion_tokens";

/** Returns a request in the format of the chat completions API. */
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
    messages: [...system, ...withImages(messages, request.files)],
    ...(tools.length > 0 && { tools: tools.map(toolOf) }),
    // Omitted if it is the default: some servers do not support the field, and OpenAI refuses it without tools.
    ...(tools.length > 0 && !parallelToolCalls && { parallel_tool_calls: false }),
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { [maxTokensField]: maxTokens }),
  };
}

/** Returns the messages of a conversation. Results are text in this API: a message after those of a turn has the images of all of them. */
function withImages(messages: readonly PromptMessage[], files: LoadedFiles): readonly Message[] {
  let images: readonly LoadedPart[] = [];
  const sent: Message[] = [];
  for (const [index, message] of messages.entries()) {
    sent.push(messageOf(message, files));
    if (message.role === "tool") images = [...images, ...loadedImages(message, files)];
    if (images.length === 0 || messages[index + 1]?.role === "tool") continue;
    const intro = { kind: "text", text: "The images of the results above:" } as const;
    sent.push({ role: "user", content: [intro, ...images].map(partOf) });
    images = [];
  }
  return sent;
}

function messageOf(message: PromptMessage, files: LoadedFiles): Message {
  switch (message.role) {
    case "user":
      return {
        role: "user",
        content:
          message.parts === undefined
            ? contentOf(message.text, message.notes)
            : loadedParts(message, files).map(partOf),
      };
    case "assistant":
      return { role: "assistant", content: message.text };
    case "verbatim": {
      const portable = portableTurn(message, chatFormat);
      // The message of this provider, as it was assembled from its answer.
      return portable === undefined
        ? (JSON.parse(message.messageJson) as Message)
        : rebuilt(portable);
    }
    case "tool": {
      const content = contentOf(message.content, message.notes);
      return { role: "tool", tool_call_id: message.providerCallId, content };
    }
  }
}

/** Returns a string, or a list of parts if there are notes: not every server accepts lists. */
function contentOf(text: string, notes: readonly string[] = []) {
  if (notes.length === 0) return text;
  const parts = [text, ...notes].filter((part) => part !== "");
  return parts.map((part) => ({ type: "text" as const, text: part }));
}

function partOf(part: LoadedPart): ChatCompletionContentPart {
  switch (part.kind) {
    case "text":
      return { type: "text", text: part.text };
    case "image":
      return { type: "image_url", image_url: { url: dataUrl(part) } };
    case "audio": {
      const format = part.mediaType === "audio/wav" ? "wav" : "mp3";
      return { type: "input_audio", input_audio: { data: part.base64, format } };
    }
    case "pdf":
      return { type: "file", file: { filename: part.name, file_data: dataUrl(part) } };
  }
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
