import type { JsonObject } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { Tool as McpTool } from "@modelcontextprotocol/client";
import { ToolDescriptorSchema } from "@reeve/contracts/tool";
import type { Tool } from "@reeve/calls/ports/tool";
import { mcpToolName } from "./mcp-tool-name.ts";
import type { McpServer } from "./mcp-server.ts";

/** The tools of a server under the names by which models call them. */
export function mcpTools(server: McpServer): readonly Tool[] {
  return server.tools.map((listed) => mcpTool(server, listed));
}

function mcpTool(
  server: McpServer,
  { name, description, inputSchema, annotations }: McpTool,
): Tool {
  const { permission_class: ofServer, tools } = server.config;
  const policy = Object.hasOwn(tools, name) ? tools[name] : undefined;
  const isHarmless = annotations?.idempotentHint === true || annotations?.readOnlyHint === true;
  const descriptor = create(ToolDescriptorSchema, {
    name: mcpToolName(server.name, name),
    description: description ?? "",
    // It came as JSON, so it is nothing else.
    inputSchema: inputSchema as JsonObject,
    permissionClass: policy?.permission_class ?? ofServer,
    source: `mcp:${server.name}`,
    parallelSafe: policy?.parallel_safe ?? true,
    exclusiveLock: policy?.exclusive_lock ?? "",
    idempotent: policy?.idempotent ?? isHarmless,
  });
  return { descriptor, call: (context, signal) => server.call(name, context, signal) };
}
