import type {
  FunctionTool,
  ResponseCreateParamsStreaming,
  ResponseInputItem,
} from "openai/resources/responses/responses";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import type { ModelRequest, PromptMessage } from "@reeve/engine/ports/model-provider";
import type { PortableTurn } from "../wire/portable-turn.ts";
import { portableTurn } from "../wire/portable-turn.ts";
import { itemsToSendBack } from "./output-items.ts";

/** The format of the messages of the Responses API: an object with the items of `output`. */
export const responsesFormat = "openai.responses";

/** How much of a model's reasoning a summary tells. */
export type ReasoningSummary = "auto" | "concise" | "detailed";

/** A request as the Responses API takes it. The provider keeps nothing of it: each request tells the whole conversation. */
export function responsesRequest(
  { model, instructions, messages, tools, ...request }: ModelRequest,
  summary: ReasoningSummary | undefined,
): ResponseCreateParamsStreaming {
  const { parallelToolCalls, temperature, maxTokens } = request;
  // A model that does not reason refuses to be asked for its reasoning.
  const reasons = model.capabilities?.reasoning ?? true;
  return {
    model: model.upstreamName,
    stream: true,
    store: false,
    ...(reasons && { include: ["reasoning.encrypted_content"] }),
    ...(reasons && summary !== undefined && { reasoning: { summary } }),
    ...(instructions !== "" && { instructions }),
    input: messages.flatMap((message) => itemsOf(message, reasons)),
    ...(tools.length > 0 && { tools: tools.map(toolOf) }),
    ...(tools.length > 0 && !parallelToolCalls && { parallel_tool_calls: false }),
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { max_output_tokens: maxTokens }),
  };
}

function itemsOf(message: PromptMessage, reasons: boolean): readonly ResponseInputItem[] {
  switch (message.role) {
    case "user":
      return [{ role: "user", content: partsOf(message.text, message.notes) }];
    case "assistant":
      return [{ role: "assistant", content: message.text }];
    case "verbatim": {
      const foreign = portableTurn(message, responsesFormat);
      return foreign === undefined
        ? itemsToSendBack(message.messageJson, reasons)
        : rebuilt(foreign);
    }
    case "tool": {
      const output = partsOf(message.content, message.notes);
      return [{ type: "function_call_output", call_id: message.providerCallId, output }];
    }
  }
}

/** A text, or a list of parts when something stands beside it. */
function partsOf(text: string, notes: readonly string[] = []) {
  if (notes.length === 0) return text;
  const parts = [text, ...notes].filter((part) => part !== "");
  return parts.map((part) => ({ type: "input_text" as const, text: part }));
}

function rebuilt({ text, calls }: PortableTurn): readonly ResponseInputItem[] {
  const said: ResponseInputItem[] = text === "" ? [] : [{ role: "assistant", content: text }];
  const called = calls.map(({ providerCallId, name, argumentsText }) => ({
    type: "function_call" as const,
    call_id: providerCallId,
    name,
    arguments: argumentsText,
  }));
  return [...said, ...called];
}

function toolOf({ name, description, inputSchema }: ToolDescriptor): FunctionTool {
  const parameters = inputSchema ?? { type: "object", properties: {} };
  // Strict schemas are a subset of JSON Schema, which tools need not keep to.
  return { type: "function", name, description, parameters, strict: false };
}
