import type { ContentBlockParam, ToolResultBlockParam } from "@anthropic-ai/sdk/resources/messages";
import type { PromptMessage } from "@reeve/engine/ports/model-provider";
import type { PortableTurn } from "../wire/portable-turn.ts";
import { portableTurn } from "../wire/portable-turn.ts";
import { toolInput } from "./tool-input.ts";

/** The format of the messages of the Messages API: an object with the blocks of `content`. */
export const anthropicFormat = "anthropic.messages";

/** What one side says before the other speaks again. */
export interface AnthropicMessage {
  readonly role: "user" | "assistant";
  readonly content: ContentBlockParam[];
}

interface Turn {
  readonly role: AnthropicMessage["role"];
  /** Blocks that have to come first. */
  readonly results: ToolResultBlockParam[];
  readonly others: ContentBlockParam[];
}

/**
 * A conversation as the Messages API takes it: the two sides speak in turn, the user first, and all results of a turn's
 * calls stand together, in the order of the calls and before anything else. Blank texts, which the API refuses, are left
 * out.
 */
export function anthropicMessages(messages: readonly PromptMessage[]): AnthropicMessage[] {
  const turns: Turn[] = [];
  for (const message of messages) {
    const { role, results = [], others } = partsOf(message);
    const last = turns.at(-1);
    if (last?.role === role) {
      last.results.push(...results);
      last.others.push(...others);
    } else if (results.length + others.length > 0) {
      turns.push({ role, results: [...results], others: [...others] });
    }
  }
  const spoken = turns.map(({ role, results, others }) => ({
    role,
    content: [...results, ...others],
  }));
  const [first] = spoken;
  return first?.role === "assistant" ? [earlier, ...spoken] : spoken;
}

/** What the user says when a conversation is told from its middle. */
const earlier: AnthropicMessage = {
  role: "user",
  content: [{ type: "text", text: "(The conversation began earlier.)" }],
};

interface Parts {
  readonly role: Turn["role"];
  readonly results?: readonly ToolResultBlockParam[];
  readonly others: readonly ContentBlockParam[];
}

function partsOf(message: PromptMessage): Parts {
  switch (message.role) {
    case "user":
      return { role: "user", others: texts([message.text, ...(message.notes ?? [])]) };
    case "assistant":
      return { role: "assistant", others: texts([message.text]) };
    case "verbatim": {
      const foreign = portableTurn(message, anthropicFormat);
      const others = foreign === undefined ? blocksOf(message.messageJson) : rebuilt(foreign);
      return { role: "assistant", others };
    }
    case "tool": {
      const { providerCallId, content, isError, notes = [] } = message;
      const result = {
        type: "tool_result" as const,
        tool_use_id: safeId(providerCallId),
        content,
        ...(isError && { is_error: true }),
      };
      return { role: "user", results: [result], others: texts(notes) };
    }
  }
}

function texts(all: readonly string[]): readonly ContentBlockParam[] {
  return all.filter((text) => !isBlank(text)).map((text) => ({ type: "text", text }));
}

function isBlank(text: string): boolean {
  return text.trim() === "";
}

function blocksOf(messageJson: string): readonly ContentBlockParam[] {
  // What is recorded in this format is a message with the blocks that the provider sent.
  const { content } = JSON.parse(messageJson) as { readonly content: readonly ContentBlockParam[] };
  return content.filter((block) => block.type !== "text" || !isBlank(block.text));
}

function rebuilt({ text, calls }: PortableTurn): readonly ContentBlockParam[] {
  const called = calls.map(({ providerCallId, name, argumentsText }) => ({
    type: "tool_use" as const,
    id: safeId(providerCallId),
    name,
    input: toolInput(argumentsText),
  }));
  return [...texts([text]), ...called];
}

/** Other providers' ids may hold signs that this one refuses. */
function safeId(id: string): string {
  return id.replaceAll(/[^\w-]/gu, (sign) => `_${sign.codePointAt(0)?.toString(16)}_`);
}
