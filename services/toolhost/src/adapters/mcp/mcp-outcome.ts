import type { JsonObject } from "@bufbuild/protobuf";
import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/sdk/types.js";
import type { ToolOutcome } from "../../ports/tool.ts";

/** What an MCP server answered, as a model reads it. */
export function mcpOutcome({ content, isError, structuredContent }: CallToolResult): ToolOutcome {
  const texts = content.map(textOf);
  if (texts.length === 0 && structuredContent !== undefined) {
    texts.push(JSON.stringify(structuredContent));
  }
  return {
    content: texts.join("\n"),
    isError: isError ?? false,
    // It came as JSON, so it is nothing else.
    ...(structuredContent !== undefined && { structured: structuredContent as JsonObject }),
  };
}

function textOf(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
    case "audio":
      return `[${block.type}, ${block.mimeType}]`;
    case "resource_link":
      return `[${block.name}: ${block.uri}]`;
    case "resource":
      return "text" in block.resource ? block.resource.text : `[resource: ${block.resource.uri}]`;
  }
}
