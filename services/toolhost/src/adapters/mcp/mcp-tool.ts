import type { JsonObject } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { Tool as McpToolDescription } from "@modelcontextprotocol/sdk/types.js";
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { PermissionClass, ToolDescriptorSchema } from "@reeve/contracts/tool";
import type { Tool } from "../../app/tool.ts";
import { failed, succeeded } from "../../app/tool.ts";
import type { McpConnection } from "./mcp-connection.ts";

/** How long an MCP tool may take, in milliseconds; its progress does not extend it. */
const callMs = 600_000;

/** A tool of an MCP server. Its progress is reported as it comes, and aborting the call cancels it at the server. */
export function mcpTool(connection: McpConnection, description: McpToolDescription): Tool {
  const { name: server } = connection;
  return {
    descriptor: create(ToolDescriptorSchema, {
      name: `mcp__${server}__${description.name}`,
      description: description.description ?? "",
      // A schema of MCP is JSON.
      inputSchema: description.inputSchema as JsonObject,
      permissionClass: PermissionClass.NETWORK,
      idempotent: description.annotations?.idempotentHint ?? false,
      source: `mcp:${server}`,
    }),
    async run({ args, progress }, signal) {
      const { client } = connection;
      if (client === undefined)
        return failed(`MCP server ${server} is not connected at the moment; try again`);
      const params = { name: description.name, arguments: args };
      try {
        const result = await client.callTool(params, CallToolResultSchema, {
          signal,
          timeout: callMs,
          onprogress: (report) =>
            progress({
              progress: report.progress,
              ...(report.total !== undefined && { total: report.total }),
              ...(report.message !== undefined && { message: report.message }),
            }),
        });
        const { content, isError, structuredContent } = CallToolResultSchema.parse(result);
        const text = content.map(textOf).join("\n");
        const structured = structuredContent as JsonObject | undefined;
        const more = { isolation: "none", ...(structured && { structured }) };
        return isError === true ? failed(text, more) : succeeded(text, more);
      } catch (error) {
        if (signal.aborted) throw error;
        return failed(
          `MCP server ${server}: ${error instanceof Error ? error.message : String(error)}`,
        );
      }
    },
  };
}

function textOf(part: { readonly type: string; readonly text?: unknown }): string {
  return part.type === "text" && typeof part.text === "string" ? part.text : `[${part.type}]`;
}
