/** The name by which models call a tool of a server. */
export function mcpToolName(server: string, tool: string): string {
  return `mcp__${server}__${tool}`;
}
