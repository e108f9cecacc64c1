import type { ToolDescriptor } from "@reeve/contracts/tool";

/** Whether a call of the tool reads or writes the files of its run. MCP servers and providers have none of them. */
export function needsWorkspace({ source }: Pick<ToolDescriptor, "source">): boolean {
  return source === "builtin";
}
