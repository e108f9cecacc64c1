import type { JsonObject } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { Tool as McpTool } from "@modelcontextprotocol/client";
import type { Tool } from "@reeve/calls/ports/tool";
import { ToolDescriptorSchema } from "@reeve/contracts/tool";
import type { McpServer } from "./mcp-server.ts";
import { mcpToolName } from "./usable-tools.ts";

/**
 * Returns the tools of a server, under the names by which models call them: the same objects until the server lists others, because
 * each call looks for its tool among them.
 */
export function mcpTools(server: McpServer): readonly Tool[] {
  const { tools: listed } = server;
  const before = described.get(listed);
  if (before?.server === server) return before.tools;
  const tools = listed.map((each) => mcpTool(server, each));
  described.set(listed, { server, tools });
  return tools;
}

interface Described {
  readonly server: McpServer;
  readonly tools: readonly Tool[];
}

const described = new WeakMap<McpServer["tools"], Described>();

/** The policy of the operator overrides what the server says about its tool. */
function mcpTool(
  server: McpServer,
  { name, description, inputSchema, annotations }: McpTool,
): Tool {
  const { permission_class: serverClass, tools } = server.config;
  const policy = Object.hasOwn(tools, name) ? tools[name] : undefined;
  const isHarmless = annotations?.idempotentHint === true || annotations?.readOnlyHint === true;
  const descriptor = create(ToolDescriptorSchema, {
    name: mcpToolName(server.name, name),
    description: description ?? "",
    // It was parsed from JSON, so it is a JSON object.
    inputSchema: inputSchema as JsonObject,
    permissionClass: policy?.permission_class ?? serverClass,
    source: `mcp:${server.name}`,
    parallelSafe: policy?.parallel_safe ?? true,
    exclusiveLock: policy?.exclusive_lock ?? "",
    idempotent: policy?.idempotent ?? isHarmless,
  });
  return {
    descriptor,
    isReachable: () => server.isReachable,
    call: (context, signal) => server.call(name, context, signal),
  };
}
