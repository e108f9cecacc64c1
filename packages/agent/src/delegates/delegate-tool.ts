import { create } from "@bufbuild/protobuf";
import type { AgentSpec } from "@reeve/contracts/agent";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import { PermissionClass, ToolDescriptorSchema } from "@reeve/contracts/tool";
import { runtimeSource } from "../tools/runtime-tools.ts";

const prefix = "agent_run_";

/** Returns the name of the tool that calls an agent. */
export function delegateToolName(agentId: string): string {
  return `${prefix}${agentId}`;
}

/** Returns the id of the agent that a tool of the runtime calls. Undefined: it calls none. */
export function delegateIdOf(tool: string): string | undefined {
  return tool.startsWith(prefix) ? tool.slice(prefix.length) : undefined;
}

/**
 * Returns the tool that calls an agent. The agent knows nothing but the prompt. The description has no text of its author: it would be
 * instructions in the prompt of another agent.
 */
export function delegateTool({ id }: Pick<AgentSpec, "id">): ToolDescriptor {
  const prompt = {
    type: "string",
    description: "What is to be done, with everything that has to be known for it.",
  };
  return create(ToolDescriptorSchema, {
    name: delegateToolName(id),
    description: `Has the agent "${id}" do a task and returns its answer. It has its own tools, starts with an empty conversation, and knows only the prompt. Call it several times in one turn to have independent tasks done at the same time.`,
    permissionClass: PermissionClass.SUBAGENT,
    source: runtimeSource,
    idempotent: true,
    inputSchema: { type: "object", properties: { prompt }, required: ["prompt"] },
  });
}
