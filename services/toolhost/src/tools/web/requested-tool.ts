import type { Tool } from "@reeve/calls/ports/tool";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";

/**
 * Refuses the calls of agents that do not ask for the tool. A runtime of a version without this rule gives the tool to every agent that
 * may have its class.
 */
export function requestedTool(tool: Tool): Tool {
  return {
    ...tool,
    async call(context, signal) {
      if (context.settings.webTools) return await tool.call(context, signal);
      const { name } = tool.descriptor;
      const remedy = `add network to permission_classes of the agent, or ${name} to allowed_tools`;
      const message = `only agents that ask for ${name} have it; ${remedy}, and update the runtime`;
      throw new Failure("denied", ErrorReason.PERMISSION_DENIED, message);
    },
  };
}
