import { create } from "@bufbuild/protobuf";
import type { ToolCatalog } from "@reeve/contracts/tool";
import { ToolCatalogSchema } from "@reeve/contracts/tool";
import type { Tool, Toolbox } from "../ports/tool.ts";
import type { McpServer } from "./mcp/mcp-server.ts";
import { mcpTools } from "./mcp/mcp-tools.ts";

/** The built-in tools, and those that the MCP servers list at the moment. */
export class HostToolbox implements Toolbox {
  readonly #builtin: readonly Tool[];
  readonly #servers: readonly McpServer[];

  constructor(builtin: readonly Tool[], servers: readonly McpServer[]) {
    this.#builtin = builtin;
    this.#servers = servers;
  }

  find(name: string): Tool | undefined {
    return this.list().find(({ descriptor }) => descriptor.name === name);
  }

  list(): readonly Tool[] {
    return [...this.#builtin, ...this.#servers.flatMap(mcpTools)];
  }
}

/** What a toolhost announces. */
export function catalogOf(toolbox: Toolbox, pool: string, isolation: string): ToolCatalog {
  const tools = toolbox.list().map(({ descriptor }) => ({ ...descriptor, pool }));
  return create(ToolCatalogSchema, { pool, isolation, tools });
}
