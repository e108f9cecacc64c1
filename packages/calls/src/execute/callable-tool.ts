import type { Tool, Toolbox } from "../ports/tool.ts";

/** Returns a tool that can be called on this host now. Undefined: the host lacks it, or cannot reach what executes its calls. */
export function callableTool(name: string, toolbox: Pick<Toolbox, "find">): Tool | undefined {
  const tool = toolbox.find(name);
  return tool?.isReachable?.() === false ? undefined : tool;
}
