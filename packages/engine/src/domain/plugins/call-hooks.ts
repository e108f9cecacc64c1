import { HookPhase } from "@reeve/contracts/extensions/plugin";
import { isAskUser } from "../calls/questions/ask-user.ts";
import { isPure } from "../runtime-tools/run-runtime-tool.ts";
import type { Call, Frame } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { isGated } from "./gate-verdict.ts";
import { awaitsHooks, stepPoint } from "./hook-points.ts";
import { onceForHooks } from "./once-for-hooks.ts";

/** Whether a call waits for hooks directly before it starts. Calls that the runtime answers from its state never start. */
export const awaitsStart = onceForHooks(function awaits(
  state: RunState,
  frame: Frame,
  call: Call,
): boolean {
  if (!isGated(state, call) || call.startedAtMs !== undefined) return false;
  const tool = frame.tools.get(call.call.name);
  if (tool === undefined || isPure(tool) || isAskUser(tool)) return false;
  return awaitsHooks(state, stepPoint(frame, HookPhase.BEFORE_TOOL, call));
});

/** Whether hooks after a call have not ended. */
export function awaitsAfterTool({ plugins }: RunState, { call }: Call): boolean {
  return plugins?.awaitedResults.has(call.callId) === true;
}

/** Whether hooks after any call of a frame have not ended. */
export function awaitsAnyAfterTool({ plugins }: RunState, frame: Frame): boolean {
  const awaited = plugins?.awaitedResults ?? new Map<string, string>();
  return [...awaited.values()].includes(frame.id);
}

/** Returns the state in which the result of a call waits for its hooks, if it has any. Only calls that have started have such hooks. */
export function withAwaitedResult(state: RunState, frameId: string, callId: string): RunState {
  const { plugins } = state;
  if (plugins === undefined || !hasOpenHooks(state, frameId, callId)) return state;
  const awaitedResults = new Map(plugins.awaitedResults).set(callId, frameId);
  return { ...state, plugins: { ...plugins, awaitedResults } };
}

/** Returns the state without the results whose hooks have all ended. */
export function withoutPassedResults(state: RunState): RunState {
  const { plugins } = state;
  if (plugins === undefined || plugins.awaitedResults.size === 0) return state;
  const awaitedResults = new Map(
    [...plugins.awaitedResults].filter(([callId, frameId]) => hasOpenHooks(state, frameId, callId)),
  );
  return { ...state, plugins: { ...plugins, awaitedResults } };
}

function hasOpenHooks(state: RunState, frameId: string, callId: string): boolean {
  const frame = state.frames.get(frameId);
  const call = frame?.calls.find((each) => each.call.callId === callId);
  if (frame === undefined || call?.result === undefined || call.startedAtMs === undefined) {
    return false;
  }
  return isGated(state, call) && awaitsHooks(state, stepPoint(frame, HookPhase.AFTER_TOOL, call));
}
