import { decideCall, maxPermissionWork } from "@reeve/agent/permission/decide-call";
import { levelsOf } from "@reeve/agent/permission/permission-levels";
import { WorkBudget } from "@reeve/agent/schema/work-budget";
import type { RunCreated, RunPrepared } from "@reeve/contracts/run";
import type { PermissionDecision, ToolDescriptor } from "@reeve/contracts/tool";
import type { Call, Frame } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { approvedCall } from "./approved-call.ts";
import { onceForCall, shareOf } from "./once-for-call.ts";

const decided = onceForCall(
  (
    call,
    tool: ToolDescriptor,
    created: RunCreated | undefined,
    prepared: RunPrepared | undefined,
    callsInTurn: number,
  ) => {
    const levels = levelsOf(created?.spec, prepared);
    if (levels.length === 0) return undefined;
    const work = new WorkBudget(shareOf(maxPermissionWork, callsInTurn));
    return decideCall(levels, { tool, args: call.arguments ?? {} }, work);
  },
);

/**
 * Returns what the permission rules in the log of the run decide about a call, with the arguments that it would be executed with: the
 * rules of the agent's revision, and those of the operator's policy when the run was prepared. Undefined: there are none.
 */
export function permissionOf(
  { head: { created, prepared } }: RunState,
  { calls }: Pick<Frame, "calls">,
  tool: ToolDescriptor,
  pending: Call,
): PermissionDecision | undefined {
  return decided(approvedCall(pending), tool, created, prepared, calls.length);
}
