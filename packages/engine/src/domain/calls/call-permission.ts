import { decideCall, maxPermissionWork } from "@reeve/agent/permission/decide-call";
import type { PermissionLevel } from "@reeve/agent/permission/permission-levels";
import { agentLevel, levelsOf } from "@reeve/agent/permission/permission-levels";
import { WorkBudget } from "@reeve/agent/schema/work-budget";
import type { RunPrepared } from "@reeve/contracts/run";
import type { PermissionDecision, ToolDescriptor } from "@reeve/contracts/tool";
import { limitsOf } from "../budget/limits.ts";
import { delegateFrames } from "../delegates/callers-of.ts";
import type { Call, Frame } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { approvedCall } from "./approved-call.ts";
import { onceForCall, shareOf } from "./once-for-call.ts";

const decided = onceForCall(
  (call, tool: ToolDescriptor, levels: readonly PermissionLevel[], callsInTurn: number) => {
    if (levels.length === 0) return undefined;
    const work = new WorkBudget(shareOf(maxPermissionWork, callsInTurn));
    return decideCall(levels, { tool, args: call.arguments ?? {} }, work);
  },
);

/**
 * Returns what the permission rules in the log of the run decide about a call, with the arguments that it would be executed with: the
 * rules of the agent's revision and of all agents that called it, and those of the operator's policy when the run was prepared.
 * Undefined: there are none.
 */
export function permissionOf(
  state: RunState,
  frame: Frame,
  tool: ToolDescriptor,
  pending: Call,
): PermissionDecision | undefined {
  // The calls of a workflow become more while it runs.
  const { calls, workflow } = frame;
  const callsInTurn = workflow === undefined ? calls.length : limitsOf(state).parallelCalls;
  return decided(approvedCall(pending), tool, levelsFor(state, frame), callsInTurn);
}

const none: readonly PermissionLevel[] = [];
const known = new WeakMap<RunPrepared, Map<string, readonly PermissionLevel[]>>();

/** Returns the rules in the log of the run for the calls of a frame: the same object for all frames with the same agents. */
export function levelsFor(state: RunState, frame: Frame): readonly PermissionLevel[] {
  const { created, prepared } = state.head;
  // No call starts before the run is prepared.
  if (prepared === undefined) return none;
  const ids = delegateFrames(state, frame).map(({ delegate }) => delegate?.agentId ?? "");
  const byDelegates = known.get(prepared) ?? new Map<string, readonly PermissionLevel[]>();
  known.set(prepared, byDelegates);
  const before = byDelegates.get(ids.join(" "));
  if (before !== undefined) return before;
  const ofDelegates = (created?.delegates ?? []).filter(({ agentId }) => ids.includes(agentId));
  const ofRun = levelsOf(created?.spec, prepared);
  const levels =
    ids.length === 0
      ? ofRun
      : [
          ...ofRun.map((level) => ownedBy(created?.agentId ?? "", level)),
          ...ofDelegates.flatMap(({ agentId, spec }) => {
            const level = agentLevel(spec);
            return level === undefined ? [] : [ownedBy(agentId, level)];
          }),
        ];
  byDelegates.set(ids.join(" "), levels);
  return levels;
}

/** Names the agent that has a level, because the rules of several agents hold for the calls of a delegate. */
function ownedBy(agentId: string, level: PermissionLevel): PermissionLevel {
  return level.source === "agent" ? { ...level, agentId } : level;
}
