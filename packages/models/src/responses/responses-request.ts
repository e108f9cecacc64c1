import type {
  FunctionTool,
  ResponseCreateParamsStreaming,
  ResponseInputContent,
  ResponseInputItem,
} from "openai/resources/responses/responses";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import { fileNote } from "@reeve/contracts/content/media";
import type { ModelRequest, PromptMessage } from "@reeve/engine/ports/model-provider";
import type { LoadedFiles, LoadedPart } from "../wire/loaded-parts.ts";
import { dataUrl, loadedImages, loadedParts } from "../wire/loaded-parts.ts";
import type { PortableTurn } from "../wire/portable-turn.ts";
import { portableTurn } from "../wire/portable-turn.ts";
import { itemsToSendBack } from "./output-items.ts";

/** The message format of the Responses API: an object with the items of `output`. */
export const responsesFormat = "openai.responses";

/** The length of a summary of a model's reasoning. */
export type ReasoningSummary = "auto" | "concise" | "detailed";

/** Returns a request in the format of the Responses API, with the complete conversation: the provider stores none of it. */
export function responsesRequest(
  { model, instructions, messages, tools, ...request }: ModelRequest,
  summary: ReasoningSummary | undefined,
): ResponseCreateParamsStreaming {
  const { parallelToolCalls, temperature, maxTokens } = request;
  // A model without reasoning refuses these fields.
  const reasons = model.capabilities?.reasoning ?? true;
  return {
    model: model.upstreamName,
    stream: true,
    store: false,
    ...(reasons && { include: ["reasoning.encrypted_content"] }),
    ...(reasons && summary !== undefined && { reasoning: { summary } }),
    ...(instructions !== "" && { instructions }),
    input: messages.flatMap((message) => itemsOf(message, reasons, request.files)),
    ...(tools.length > 0 && { tools: tools.map(toolOf) }),
    ...(tools.length > 0 && !parallelToolCalls && { parallel_tool_calls: false }),
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { max_output_tokens: maxTokens }),
  };
}

function itemsOf(
  message: PromptMessage,
  reasons: boolean,
  files: LoadedFiles,
): readonly ResponseInputItem[] {
  switch (message.role) {
    case "user":
      return [
        {
          role: "user",
          content:
            message.parts === undefined
              ? partsOf(message.text, message.notes)
              : loadedParts(message, files).map(partOf),
        },
      ];
    case "assistant":
      return [{ role: "assistant", content: message.text }];
    case "verbatim": {
      const portable = portableTurn(message, responsesFormat);
      return portable === undefined
        ? itemsToSendBack(message.messageJson, reasons)
        : rebuilt(portable);
    }
    case "tool": {
      const images = loadedImages(message, files);
      const text = partsOf(message.content, message.notes);
      const output =
        images.length === 0
          ? text
          : [
              ...[message.content, ...(message.notes ?? [])].flatMap(textPart),
              ...images.map(partOf),
            ];
      return [{ type: "function_call_output", call_id: message.providerCallId, output }];
    }
  }
}

/** Returns a string, or a list of parts if there are notes. */
function partsOf(text: string, notes: readonly string[] = []) {
  if (notes.length === 0) return text;
  const parts = [text, ...notes].filter((part) => part !== "");
  return parts.map((part) => ({ type: "input_text" as const, text: part }));
}

function textPart(text: string) {
  return text === "" ? [] : [{ type: "input_text" as const, text }];
}

function partOf(part: LoadedPart): ResponseInputContent {
  switch (part.kind) {
    case "text":
      return { type: "input_text", text: part.text };
    case "image":
      return { type: "input_image", image_url: dataUrl(part), detail: "auto" };
    case "pdf":
      return { type: "input_file", filename: part.name, file_data: dataUrl(part) };
    case "audio":
      return { type: "input_text", text: fileNote(part, "left out: this API transfers no audio") };
  }
}

function rebuilt({ text, calls }: PortableTurn): readonly ResponseInputItem[] {
  const message: ResponseInputItem[] = text === "" ? [] : [{ role: "assistant", content: text }];
  const called = calls.map(({ providerCallId, name, argumentsText }) => ({
    type: "function_call" as const,
    call_id: providerCallId,
    name,
    arguments: argumentsText,
  }));
  return [...message, ...called];
}

function toolOf({ name, description, inputSchema }: ToolDescriptor): FunctionTool {
  const parameters = inputSchema ?? { type: "object", properties: {} };
  // Strict mode accepts only a subset of JSON Schema, and tools may use all of it.
  return { type: "function", name, description, parameters, strict: false };
}
