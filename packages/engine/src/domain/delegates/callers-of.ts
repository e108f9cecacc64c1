import { agentLevel } from "@reeve/agent/permission/permission-levels";
import type { PermissionLevel } from "@reeve/agent/permission/permission-levels";
import type { Frame } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import type { RecordedAgent } from "./agent-of.ts";
import { workingAgent } from "./working-agent.ts";

/** Returns the frames in which the delegates began that a frame works for, the latest first. Empty: it works for the agent of the run. */
export function delegateFrames({ frames }: RunState, frame: Frame): readonly Frame[] {
  const found: Frame[] = [];
  let at: Frame | undefined = frame;
  while (at?.delegate !== undefined) {
    const began = frames.get(at.delegate.frameId);
    if (began?.subtask === undefined) break;
    found.push(began);
    at = frames.get(began.subtask.parent);
  }
  return found;
}

/** Returns the delegate that makes the calls of a frame, and those that called it, as an approval names them. */
export function delegatesOfCall(
  state: RunState,
  frame: Frame | undefined,
): { readonly delegateId: string; readonly callingDelegates: string[] } {
  const frames = frame === undefined ? [] : delegateFrames(state, frame);
  const [delegateId = "", ...callers] = frames.map(({ delegate }) => delegate?.agentId ?? "");
  return { delegateId, callingDelegates: callers.toReversed() };
}

/** Returns the agents whose rules hold for the calls of a frame: its own, and those that called it, up to the agent of the run. */
export function agentsOver(state: RunState, frame: Frame): readonly RecordedAgent[] {
  const delegates = delegateFrames(state, frame).map((began) => workingAgent(state, began));
  return [...delegates, workingAgent(state, undefined)];
}

/** Returns the permission rules of the agents whose rules hold for the calls of a frame. */
export function levelsOver(state: RunState, frame: Frame): readonly PermissionLevel[] {
  return agentsOver(state, frame).flatMap(({ spec }) => agentLevel(spec) ?? []);
}
