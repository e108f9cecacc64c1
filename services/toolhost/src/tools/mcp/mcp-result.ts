import type { JsonObject } from "@bufbuild/protobuf";
import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/client";
import { hasJson } from "@reeve/calls/results/record-size";
import type { Attachment, CallResult } from "@reeve/calls/ports/tool";

/** What an MCP server answered, as a model reads it. What is no text is an attachment, of which the text tells. */
export function mcpOutcome({ content, isError, structuredContent }: CallToolResult): CallResult {
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

/** It came as JSON, so an object is nothing else. */
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
      return attached(block.type, block.mimeType, block.data, attachments);
    case "resource_link":
      return `[${block.name}: ${block.uri}]`;
    case "resource": {
      const { resource } = block;
      if ("text" in resource) return resource.text;
      const said = attached("file", resource.mimeType ?? "", resource.blob, attachments);
      return `${said} ${resource.uri}`;
    }
  }
}

/** Base64 is not for a model to read. */
function attached(kind: string, mimeType: string, data: string, attachments: Attachment[]): string {
  const bytes = Buffer.from(data, "base64");
  const label = `${kind} ${attachments.length + 1}`;
  attachments.push({ label, mediaType: mimeType, bytes });
  return `[${label}: ${mimeType || "of unknown type"}, ${bytes.length} bytes]`;
}
