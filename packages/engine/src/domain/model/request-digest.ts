import type { JsonValue } from "@bufbuild/protobuf";
import { toJson } from "@bufbuild/protobuf";
import { digestText } from "@reeve/contracts/digest/batch-digest";
import type { ModelSpec } from "@reeve/contracts/agent";
import { canonicalJson } from "@reeve/contracts/digest/canonical-json";
import { canonicalDigest, jsonDigest } from "@reeve/contracts/digest/json-digest";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import { ToolDescriptorSchema } from "@reeve/contracts/tool";
import type { PromptMessage, PromptPart, RenderedRequest } from "./model.ts";

/** The digests that `model_call_started` records. */
export interface RequestDigests {
  readonly requestDigest: Uint8Array<ArrayBuffer>;
  readonly toolsDigest: Uint8Array<ArrayBuffer>;
}

/** Returns the digests of a request to a model and of its tools. */
export function requestDigests(
  model: Pick<ModelSpec, "provider" | "upstreamName"> | undefined,
  request: RenderedRequest,
): RequestDigests {
  const { instructions, messages, tools, parallelToolCalls, temperature, maxTokens } = request;
  const toolsDigest = digestOfTools(tools);
  const requestDigest = jsonDigest({
    provider: model?.provider ?? "",
    model: model?.upstreamName ?? "",
    instructions,
    messages: messages.map(digestOfMessage),
    tools: digestText(toolsDigest),
    parallelToolCalls,
    temperature: temperature ?? null,
    maxTokens: maxTokens ?? null,
  });
  return { requestDigest, toolsDigest };
}

/** A conversation is digested once per turn, and its messages and tools never change. */
const messageDigests = new WeakMap<PromptMessage, string>();
const toolsDigests = new WeakMap<readonly ToolDescriptor[], Uint8Array<ArrayBuffer>>();
/** The canonical JSON of tools. The runs of an agent share its tools while they are resolved in the same way. */
const toolTexts = new WeakMap<ToolDescriptor, string>();

function digestOfMessage(message: PromptMessage): string {
  const before = messageDigests.get(message);
  if (before !== undefined) return before;
  // Leaves out the members that are undefined, and estimates, whose rules may change.
  const json = JSON.parse(JSON.stringify(withoutEstimates(message))) as JsonValue;
  const digest = digestText(jsonDigest(json));
  messageDigests.set(message, digest);
  return digest;
}

function withoutEstimate(part: PromptPart) {
  return { ...part, tokens: undefined };
}

function withoutEstimates(message: PromptMessage): unknown {
  if (message.role === "user" && message.parts !== undefined) {
    return { ...message, parts: message.parts.map(withoutEstimate) };
  }
  return message.role === "tool" && message.files !== undefined
    ? { ...message, files: message.files.map(withoutEstimate) }
    : message;
}

function digestOfTools(tools: readonly ToolDescriptor[]): Uint8Array<ArrayBuffer> {
  const before = toolsDigests.get(tools);
  if (before !== undefined) return before;
  const digest = canonicalDigest(`[${tools.map(textOfTool).join(",")}]`);
  toolsDigests.set(tools, digest);
  return digest;
}

function textOfTool(tool: ToolDescriptor): string {
  const before = toolTexts.get(tool);
  if (before !== undefined) return before;
  const text = canonicalJson(toJson(ToolDescriptorSchema, tool));
  toolTexts.set(tool, text);
  return text;
}
