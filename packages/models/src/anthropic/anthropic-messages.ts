import type {
  Base64ImageSource,
  ContentBlockParam,
  ImageBlockParam,
  TextBlockParam,
  ToolResultBlockParam,
} from "@anthropic-ai/sdk/resources/messages";
import { fileNote } from "@reeve/contracts/content/media";
import type { PromptMessage } from "@reeve/engine/ports/model-provider";
import type { LoadedFiles, LoadedImage, LoadedPart } from "../wire/loaded-parts.ts";
import { loadedImages, loadedParts } from "../wire/loaded-parts.ts";
import type { PortableTurn } from "../wire/portable-turn.ts";
import { portableTurn } from "../wire/portable-turn.ts";
import { toolInput } from "./tool-input.ts";

/** The message format of the Messages API: an object with the blocks of `content`. */
export const anthropicFormat = "anthropic.messages";

/** A message of the Messages API: everything that one side says before the other side answers. */
export interface AnthropicMessage {
  readonly role: "user" | "assistant";
  readonly content: ContentBlockParam[];
}

interface Turn {
  readonly role: AnthropicMessage["role"];
  /** The blocks that have to come first. */
  readonly results: ToolResultBlockParam[];
  readonly others: ContentBlockParam[];
}

/**
 * Returns a conversation in the format of the Messages API: user and assistant alternate, the user is first, and a user
 * message starts with all results of the turn's calls in their order. Omits blank texts, which the API refuses.
 */
export function anthropicMessages(
  messages: readonly PromptMessage[],
  files?: LoadedFiles,
): AnthropicMessage[] {
  const turns: Turn[] = [];
  for (const message of messages) {
    const { role, results = [], others } = partsOf(message, files);
    const last = turns.at(-1);
    if (last?.role === role) {
      last.results.push(...results);
      last.others.push(...others);
    } else if (results.length + others.length > 0) {
      turns.push({ role, results: [...results], others: [...others] });
    }
  }
  const alternating = turns.map(({ role, results, others }) => ({
    role,
    content: [...results, ...others],
  }));
  const [first] = alternating;
  return first?.role === "assistant" ? [earlier, ...alternating] : alternating;
}

/** The first user message of a conversation that starts with the assistant. */
const earlier: AnthropicMessage = {
  role: "user",
  content: [{ type: "text", text: "(The conversation began earlier.)" }],
};

interface Parts {
  readonly role: Turn["role"];
  readonly results?: readonly ToolResultBlockParam[];
  readonly others: readonly ContentBlockParam[];
}

function partsOf(message: PromptMessage, files: LoadedFiles): Parts {
  switch (message.role) {
    case "user":
      return { role: "user", others: loadedParts(message, files).flatMap(blockOf) };
    case "assistant":
      return { role: "assistant", others: texts([message.text]) };
    case "verbatim": {
      const portable = portableTurn(message, anthropicFormat);
      const others = portable === undefined ? blocksOf(message.messageJson) : rebuilt(portable);
      return { role: "assistant", others };
    }
    case "tool": {
      const { providerCallId, content, isError, notes = [] } = message;
      const images = loadedImages(message, files).map(imageBlock);
      const result = {
        type: "tool_result" as const,
        tool_use_id: safeId(providerCallId),
        content: images.length === 0 ? content : [...texts([content]), ...images],
        ...(isError && { is_error: true }),
      };
      return { role: "user", results: [result], others: texts(notes) };
    }
  }
}

function blockOf(part: LoadedPart): readonly ContentBlockParam[] {
  switch (part.kind) {
    case "text":
      return texts([part.text]);
    case "image":
      return [imageBlock(part)];
    case "pdf":
      return [
        {
          type: "document",
          title: part.name,
          source: { type: "base64", media_type: "application/pdf", data: part.base64 },
        },
      ];
    case "audio":
      return texts([fileNote(part, "left out: this API transfers no audio")]);
  }
}

/** The maximum size of an image that the API accepts, in base64: the limit of 5 MiB, which is 3.75 MiB before the encoding. */
const maxImageLength = 5 * 1024 * 1024;

/** Returns an image, or a note for one that the API would refuse with the whole request. */
function imageBlock({
  mediaType,
  name,
  base64: data,
}: LoadedImage): ImageBlockParam | TextBlockParam {
  if (data.length > maxImageLength) {
    const why = "left out: this API transfers images of at most 3.75 MiB";
    return { type: "text", text: fileNote({ mediaType, name }, why) };
  }
  // The media types of images are those that the API accepts.
  const type = mediaType as Base64ImageSource["media_type"];
  return { type: "image", source: { type: "base64", media_type: type, data } };
}

function texts(all: readonly string[]): readonly TextBlockParam[] {
  return all.filter((text) => !isBlank(text)).map((text) => ({ type: "text", text }));
}

function isBlank(text: string): boolean {
  return text.trim() === "";
}

function blocksOf(messageJson: string): readonly ContentBlockParam[] {
  // A message in this format has the blocks that the provider sent.
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

/** The ids of other providers may have characters that this API refuses. */
function safeId(id: string): string {
  return id.replaceAll(/[^\w-]/gu, (character) => `_${character.codePointAt(0)?.toString(16)}_`);
}
