import { finishTool } from "../tools/finish-tool.ts";
import { runtimeTool } from "../tools/runtime-tool.ts";
import { finishSubtaskName, runtimeSource } from "../tools/runtime-tools.ts";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import { PermissionClass } from "@reeve/contracts/tool";

const approvalName = "workflow_approval";
const delayName = "workflow_delay";

/** The tools that the nodes of the kinds `approval` and `delay` call. No model has them. */
export const waitTools = { approval: approvalName, delay: delayName } as const;

const approvalTool = runtimeTool(
  approvalName,
  PermissionClass.SAFE,
  "Waits until a person approves or rejects.",
  { question: { type: "string", description: "What the person decides." }, value: {} },
  ["question"],
);

const delayTool = runtimeTool(
  delayName,
  PermissionClass.SAFE,
  "Waits.",
  { seconds: { type: "number", exclusiveMinimum: 0, description: "How long it waits." } },
  ["seconds"],
);

/** Returns the tools of a frame with a workflow: its own, and those that only nodes call. */
export function withWorkflowTools(
  own: ReadonlyMap<string, ToolDescriptor>,
): ReadonlyMap<string, ToolDescriptor> {
  const tools = new Map(own);
  for (const tool of [approvalTool, delayTool]) tools.set(tool.name, tool);
  if (!tools.has(finishSubtaskName)) {
    tools.set(finishSubtaskName, finishTool({ type: "object" }, "run"));
  }
  return tools;
}

/** Whether the calls of a tool ask a person, as a node of a workflow. */
export function isApprovalNode({ name, source }: ToolDescriptor): boolean {
  return name === approvalName && source === runtimeSource;
}

/** Whether the calls of a tool wait for a time, as a node of a workflow. */
export function isDelayNode({ name, source }: ToolDescriptor): boolean {
  return name === delayName && source === runtimeSource;
}

/** Whether only certain kinds of nodes may call a tool, and no node of the kind `tool`. */
export function isReservedTool(name: string): boolean {
  return name === approvalName || name === delayName || name === finishSubtaskName;
}

/** Whether nothing executes the calls of a tool: the run only waits. */
export function isWaitNode(tool: ToolDescriptor): boolean {
  return isApprovalNode(tool) || isDelayNode(tool);
}
