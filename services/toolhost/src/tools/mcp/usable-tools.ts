import { setImmediate as otherWork } from "node:timers/promises";
import type { JsonObject } from "@bufbuild/protobuf";
import type { Tool as McpTool } from "@modelcontextprotocol/client";
import { isObjectSchema } from "@reeve/calls/execute/check-arguments";
import { isStorable } from "@reeve/contracts/rules/nesting";
import type { Logger } from "@reeve/platform/telemetry/logger";

const maxTools = 256;
const maxSchemaBytes = 100_000;
const validName = /^[a-zA-Z0-9_-]{1,128}$/;

/** Returns the name by which models call a tool of a server. */
export function mcpToolName(server: string, tool: string): string {
  return `mcp__${server}__${tool}`;
}

/**
 * Returns the tools of a server that a catalog can hold without harm to other tools. Logs those that are left out. Other work of the
 * process runs between two tools. Rejects with the signal's reason.
 */
export async function usableTools(
  server: string,
  listed: readonly McpTool[],
  log: Logger,
  signal: AbortSignal,
): Promise<readonly McpTool[]> {
  const usable = new Map<string, McpTool>();
  for (const tool of listed.slice(0, maxTools)) {
    await otherWork();
    signal.throwIfAborted();
    const reason = usable.has(tool.name) ? "it is listed twice" : whyUnusable(server, tool);
    if (reason === undefined) usable.set(tool.name, tool);
    else log.warn({ tool: tool.name, reason }, "tool of an MCP server left out");
  }
  if (listed.length > maxTools) {
    log.warn(
      { tools: listed.length, maxTools },
      "MCP server lists too many tools; the last are left out",
    );
  }
  return [...usable.values()];
}

function whyUnusable(server: string, { name, inputSchema }: McpTool): string | undefined {
  if (name === "" || !validName.test(mcpToolName(server, name))) return "its name is not valid";
  // It was parsed from JSON, so it is a JSON object.
  const schema = inputSchema as JsonObject;
  if (!isStorable(schema)) {
    return "its schema is nested too deeply, or contains something that logs cannot store";
  }
  if (Buffer.byteLength(JSON.stringify(schema)) > maxSchemaBytes) return "its schema is too large";
  return isObjectSchema(schema) ? undefined : "its schema is not a valid JSON Schema of an object";
}
