import type { JsonObject } from "@bufbuild/protobuf";
import type { Tool as McpTool } from "@modelcontextprotocol/client";
import { isStorable } from "@reeve/contracts/nesting";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { isObjectSchema } from "@reeve/calls/execute/check-arguments";
import { mcpToolName } from "./mcp-tool-name.ts";

const maxTools = 256;
/** Bytes of the schema of a tool. */
const maxSchemaBytes = 100_000;
const validName = /^[a-zA-Z0-9_-]{1,128}$/;

/** Those tools of a server that can be in a catalog without harm to the others in it. What is left out is logged. */
export function usableTools(
  server: string,
  listed: readonly McpTool[],
  log: Logger,
): readonly McpTool[] {
  const usable = new Map<string, McpTool>();
  for (const tool of listed.slice(0, maxTools)) {
    const reason = usable.has(tool.name) ? "it is there twice" : whyUnusable(server, tool);
    if (reason === undefined) usable.set(tool.name, tool);
    else log.warn({ tool: tool.name, reason }, "tool of an MCP server left out");
  }
  if (listed.length > maxTools) {
    log.warn({ tools: listed.length, maxTools }, "MCP server has too many tools");
  }
  return [...usable.values()];
}

function whyUnusable(server: string, { name, inputSchema }: McpTool): string | undefined {
  if (name === "" || !validName.test(mcpToolName(server, name))) return "it is no name of a tool";
  // It came as JSON, so it is nothing else.
  const schema = inputSchema as JsonObject;
  if (!isStorable(schema)) return "its schema is nested too deeply, or has what no log can hold";
  if (Buffer.byteLength(JSON.stringify(schema)) > maxSchemaBytes) return "its schema is too large";
  return isObjectSchema(schema) ? undefined : "its schema is no JSON Schema of an object";
}
