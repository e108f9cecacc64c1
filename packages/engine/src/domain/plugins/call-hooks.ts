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

/** Whether hooks after a call have not ended. Only calls that have started have such hooks. */
export const awaitsAfterTool = onceForHooks(function awaits(
  state: RunState,
  frame: Frame,
  call: Call,
): boolean {
  if (!isGated(state, call) || call.result === undefined || call.startedAtMs === undefined) {
    return false;
  }
  return awaitsHooks(state, stepPoint(frame, HookPhase.AFTER_TOOL, call));
});
