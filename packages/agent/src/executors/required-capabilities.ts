import type { AgentSpec } from "@reeve/contracts/agent";
import type { WorkflowNode } from "@reeve/contracts/extensions/workflow";
import type { StartRunRequest } from "@reeve/contracts/run";
import { PermissionClass } from "@reeve/contracts/tool";
import { grantedClasses } from "../tools/permission-classes.ts";
import type { Capability } from "./executor.ts";

/** The parts of a request that require something of an executor. */
export interface RunRequirements extends Partial<
  Pick<
    StartRunRequest,
    | "executor"
    | "threadId"
    | "memoryEnabled"
    | "collections"
    | "cancelOnDisconnect"
    | "workflowTarget"
  >
> {
  readonly files?: readonly unknown[];
  readonly parts?: readonly unknown[];
  readonly messages?: readonly { readonly parts: readonly unknown[] }[];
  readonly spec?: AgentSpec;
}

/** Returns the capabilities that a run needs, each with the field that requires it. */
export function requiredCapabilities({
  threadId = "",
  memoryEnabled = false,
  collections = [],
  files = [],
  parts = [],
  messages = [],
  cancelOnDisconnect = false,
  workflowTarget = "",
  spec,
}: RunRequirements): readonly (readonly [Capability, string])[] {
  const classes = grantedClasses(spec?.permissionClasses ?? []);
  const all = [
    ["threads", "thread_id", threadId !== ""],
    ["long_term_memory", "memory_enabled", memoryEnabled],
    ["collections", "collections", collections.length > 0],
    ["collections", "spec.collections", (spec?.collections.length ?? 0) > 0],
    ["files", "files", files.length > 0],
    ["content_parts", "parts", parts.length > 0],
    ["content_parts", "messages", messages.some((message) => message.parts.length > 0)],
    ["cancel_on_disconnect", "cancel_on_disconnect", cancelOnDisconnect],
    ["approvals", "hitl_tools", (spec?.hitlTools.length ?? 0) > 0],
    ["approvals", "workflow", spec?.workflow?.nodes.some(isApproval) === true],
    ["saved_workflows", "workflow_target", workflowTarget !== ""],
    ["sandbox", "permission_classes", classes.has(PermissionClass.EXECUTE)],
  ] as const;
  return all.flatMap(([capability, field, isRequired]) =>
    isRequired ? [[capability, field] as const] : [],
  );
}

function isApproval({ type }: WorkflowNode): boolean {
  return type === "approval";
}
