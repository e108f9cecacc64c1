import type { JsonObject } from "@bufbuild/protobuf";
import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/client";
import type { Attachment, CallResult } from "@reeve/calls/ports/tool";
import { hasJson } from "@reeve/calls/results/record-size";

/** Returns the answer of an MCP server as the result of a call. Content other than text becomes attachments that the text names. */
export function mcpResult({ content, isError, structuredContent }: CallToolResult): CallResult {
  const attachments: Attachment[] = [];
  const texts = content.map((block) => textOf(block, attachments));
  const structured = isRecord(structuredContent) ? structuredContent : undefined;
  const isReadable = structured !== undefined && hasJson(structured);
  if (texts.length === 0 && structuredContent !== undefined) {
    texts.push(jsonOf(structuredContent) ?? "[a record that is nested too deeply]");
  }
  return {
    content: texts.join("\n"),
    isError: isError ?? false,
    ...(isReadable && { structured }),
    ...(attachments.length > 0 && { attachments }),
  };
}

/** The value was parsed from JSON, so an object is a JSON object. */
function isRecord(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

function textOf(block: ContentBlock, attachments: Attachment[]): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
    case "audio":
      return attach(block.type, block.mimeType, block.data, attachments);
    case "resource_link":
      return `[${block.name}: ${block.uri}]`;
    case "resource": {
      const { resource } = block;
      if ("text" in resource) return resource.text;
      const note = attach("file", resource.mimeType ?? "", resource.blob, attachments);
      return `${note} ${resource.uri}`;
    }
  }
}

/** Adds an attachment, because a model cannot read base64. Returns the text that names it. */
function attach(kind: string, mimeType: string, data: string, attachments: Attachment[]): string {
  const bytes = Buffer.from(data, "base64");
  const label = `${kind} ${attachments.length + 1}`;
  attachments.push({ label, mediaType: mimeType, bytes });
  return `[${label}: ${mimeType || "of unknown type"}, ${bytes.length} bytes]`;
}
