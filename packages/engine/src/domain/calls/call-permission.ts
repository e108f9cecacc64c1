import { decideCall } from "@reeve/agent/permission/decide-call";
import { levelsOf } from "@reeve/agent/permission/permission-levels";
import type { PermissionDecision, ToolDescriptor } from "@reeve/contracts/tool";
import type { Call } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { approvedCall } from "./approved-call.ts";

/**
 * Returns what the permission rules in the log of the run decide about a call, with the arguments that it would be executed with: the
 * rules of the agent's revision, and those of the operator's policy when the run was prepared. Undefined: there are none.
 */
export function permissionOf(
  { head: { created, prepared } }: RunState,
  tool: ToolDescriptor,
  pending: Call,
): PermissionDecision | undefined {
  const levels = levelsOf(created?.spec, prepared);
  if (levels.length === 0) return undefined;
  return decideCall(levels, { tool, args: approvedCall(pending).arguments ?? {} });
}
