import type {
  MessageCountTokensParams,
  MessageCreateParamsStreaming,
  Tool,
} from "@anthropic-ai/sdk/resources/messages";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import type { ModelRequest } from "@reeve/engine/ports/model-provider";
import type { AnthropicMessage } from "./anthropic-messages.ts";
import { anthropicMessages } from "./anthropic-messages.ts";

/** The limit of an answer if neither the agent nor the registry has one: the API requires a number. */
const defaultMaxTokens = 16_000;

const cached = { cache_control: { type: "ephemeral" as const } };

/**
 * Returns a request in the format of the Messages API. Marks for its cache what stays the same from call to call: the tools
 * and the system prompt, and the conversation so far.
 */
export function anthropicRequest(
  { model, instructions, messages, tools, parallelToolCalls, maxTokens, files }: ModelRequest,
  thinking: "adaptive" | undefined,
): MessageCreateParamsStreaming {
  const reasons = model.capabilities?.reasoning ?? true;
  const modelMaxTokens = model.maxOutputTokens > 0 ? model.maxOutputTokens : defaultMaxTokens;
  return {
    model: model.upstreamName,
    stream: true,
    max_tokens: maxTokens ?? modelMaxTokens,
    ...(instructions !== "" && { system: [{ type: "text", text: instructions, ...cached }] }),
    messages: withCacheMark(anthropicMessages(messages, files)),
    ...(tools.length > 0 && { tools: toolsOf(tools, instructions === "") }),
    ...(tools.length > 0 &&
      !parallelToolCalls && {
        tool_choice: { type: "auto", disable_parallel_tool_use: true },
      }),
    ...(reasons &&
      thinking !== undefined && { thinking: { type: thinking, display: "summarized" } }),
  };
}

/** Returns a request to count the tokens of `anthropicRequest`. */
export function anthropicCountRequest(
  request: ModelRequest,
  thinking: "adaptive" | undefined,
): MessageCountTokensParams {
  const { stream: _, max_tokens: __, ...counted } = anthropicRequest(request, thinking);
  return counted;
}

/** A mark on the system prompt includes the tools before it. Without a system prompt the last tool has the mark. */
function toolsOf(tools: readonly ToolDescriptor[], isMarked: boolean): Tool[] {
  return tools.map(({ name, description, inputSchema }, index) => ({
    name,
    description,
    input_schema: { type: "object", ...inputSchema } as Tool.InputSchema,
    ...(isMarked && index === tools.length - 1 && cached),
  }));
}

const markable: ReadonlySet<string> = new Set(["text", "tool_result", "image", "document"]);

/** Marks the end of the conversation, with which the next call will start. */
function withCacheMark(messages: AnthropicMessage[]): AnthropicMessage[] {
  const last = messages.at(-1);
  if (last === undefined) return messages;
  const block = last.content.at(-1);
  if (block === undefined || !markable.has(block.type)) return messages;
  const content = [...last.content.slice(0, -1), { ...block, ...cached }];
  return [...messages.slice(0, -1), { ...last, content }];
}
