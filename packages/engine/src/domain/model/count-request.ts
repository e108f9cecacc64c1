import { tokensIn } from "@reeve/agent/text/count-tokens";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import type { PromptMessage, PromptPart, RenderedRequest } from "./model.ts";

/** What the formats of the providers add: a role and marks for each message or note, and names of fields for each tool. */
const perMessage = 8;
const perTool = 16;
/** What a provider adds to the system prompt of a request with tools, to explain calls to the model. */
const toolUse = 350;

/** Returns how many tokens a request has at most. This is the only count of a request before its call. */
export function requestTokens(request: RenderedRequest): number {
  const { instructions, messages, tools } = request;
  return tokensIn(instructions) + perMessage + toolsTokens(tools) + messagesTokens(messages);
}

/** Returns how many tokens messages have at most. */
export function messagesTokens(messages: readonly PromptMessage[]): number {
  return messages.reduce((sum, message) => sum + messageTokens(message), 0);
}

/** Conversations are counted often, and their messages and tools never change. */
const messageCounts = new WeakMap<PromptMessage, number>();
const toolCounts = new WeakMap<ToolDescriptor, number>();

function messageTokens(message: PromptMessage): number {
  const before = messageCounts.get(message);
  if (before !== undefined) return before;
  const tokens = countMessage(message);
  messageCounts.set(message, tokens);
  return tokens;
}

function countMessage(message: PromptMessage): number {
  switch (message.role) {
    case "user":
      return (
        textsTokens([message.text, ...(message.notes ?? [])]) +
        (message.parts ?? []).reduce((sum, part) => sum + partTokens(part), 0)
      );
    case "assistant":
      return textsTokens([message.text]);
    case "verbatim": {
      // A provider with another format gets the text and the calls instead.
      const calls = (message.calls ?? []).flatMap((call) => Object.values(call));
      const portable = textsTokens([message.text ?? "", ...calls]);
      return Math.max(textsTokens([message.messageJson]), portable);
    }
    case "tool": {
      const { providerCallId, name, content, notes = [], files = [] } = message;
      return (
        textsTokens([providerCallId, name, content, ...notes]) +
        files.reduce((sum, file) => sum + partTokens(file), 0)
      );
    }
  }
}

function partTokens(part: PromptPart): number {
  return part.kind === "text" ? textsTokens([part.text]) : perMessage + part.tokens;
}

function textsTokens(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + perMessage + tokensIn(text), 0);
}

function toolsTokens(tools: readonly ToolDescriptor[]): number {
  return tools.length === 0 ? 0 : tools.reduce((sum, tool) => sum + toolTokens(tool), toolUse);
}

function toolTokens(tool: ToolDescriptor): number {
  const before = toolCounts.get(tool);
  if (before !== undefined) return before;
  const { name, description, inputSchema } = tool;
  const tokens = perTool + tokensIn(JSON.stringify({ name, description, inputSchema }));
  toolCounts.set(tool, tokens);
  return tokens;
}
