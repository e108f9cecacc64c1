import type { JsonObject } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { Tool as McpTool } from "@modelcontextprotocol/sdk/types.js";
import { PermissionClass, ToolDescriptorSchema } from "@reeve/contracts/tool";
import type { Tool } from "../../ports/tool.ts";
import type { McpServer } from "./mcp-server.ts";

const validName = /^[a-zA-Z0-9_-]{1,128}$/;

/** The tools of a server under the names by which models call them. One whose name cannot stand is left out. */
export function mcpTools(server: McpServer): readonly Tool[] {
  return server.tools
    .map((listed) => mcpTool(server, listed))
    .filter(({ descriptor }) => validName.test(descriptor.name));
}

function mcpTool(
  server: McpServer,
  { name, description, inputSchema, annotations }: McpTool,
): Tool {
  const descriptor = create(ToolDescriptorSchema, {
    name: `mcp__${server.name}__${name}`,
    description: description ?? "",
    // It came as JSON, so it is nothing else.
    inputSchema: inputSchema as JsonObject,
    permissionClass: PermissionClass.NETWORK,
    source: `mcp:${server.name}`,
    parallelSafe: true,
    idempotent: annotations?.idempotentHint === true || annotations?.readOnlyHint === true,
  });
  return { descriptor, call: (context, signal) => server.call(name, context, signal) };
}
