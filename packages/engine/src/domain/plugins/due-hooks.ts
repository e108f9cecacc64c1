import { HookPhase } from "@reeve/contracts/extensions/plugin";
import { gateOf } from "../calls/gate-call.ts";
import { withHeldCalls } from "../calls/call-content.ts";
import { parallelCallLimit } from "../calls/outgoing-calls.ts";
import { scheduleCalls } from "../calls/schedule-calls.ts";
import type { Call, Frame } from "../state/frame.ts";
import { rootId } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { liveFrames } from "../state/run-state.ts";
import { awaitsAfterTool, awaitsStart } from "./call-hooks.ts";
import { isGated } from "./gate-verdict.ts";
import type { HookPoint } from "./hook-point.ts";
import {
  awaitedStart,
  awaitsHooks,
  hookedPlugins,
  hookIdOf,
  isPointOver,
  runEnd,
  stepPoint,
} from "./hook-points.ts";
import { onceForHooks } from "./once-for-hooks.ts";
import type { PendingAction } from "./plugin-state.ts";
import { idOf } from "./plugin-state.ts";

/** A hook that has to run now, or an action that is due now or later. */
export type DueHook = {
  readonly hookId: string;
  readonly pluginId: string;
  /** Id of the frame. */
  readonly frame: string;
} & (
  | { readonly point: HookPoint; readonly action?: undefined }
  | { readonly point?: undefined; readonly action: PendingAction }
);

/** Returns the hooks that have to run, those of one point at the same time, and the actions of plugins. */
export function dueHooks(state: RunState): readonly DueHook[] {
  const { plugins } = state;
  if (plugins === undefined || plugins.stop !== undefined) return [];
  return [...duePoints(state).flatMap((point) => hooksAt(state, point)), ...dueActions(state)];
}

/** The hooks of a call at each of its points. */
const hooksOfCall: ReadonlyMap<HookPhase, ReturnType<typeof onceForPhase>> = new Map(
  [HookPhase.TOOL_GATE, HookPhase.BEFORE_TOOL, HookPhase.AFTER_TOOL].map((phase) => [
    phase,
    onceForPhase(phase),
  ]),
);

function onceForPhase(phase: HookPhase) {
  return onceForHooks((state, frame, call) => missingAt(state, stepPoint(frame, phase, call)));
}

function hooksAt(state: RunState, point: HookPoint): readonly DueHook[] {
  const frame = state.frames.get(point.frame);
  const ofCall = hooksOfCall.get(point.phase);
  return point.call === undefined || frame === undefined || ofCall === undefined
    ? missingAt(state, point)
    : ofCall(state, frame, point.call);
}

/** Returns the hooks of a point that have not ended. */
function missingAt(state: RunState, point: HookPoint): readonly DueHook[] {
  const { plugins } = state;
  if (plugins === undefined) return [];
  return hookedPlugins(state, point).flatMap((each) => {
    const pluginId = idOf(each);
    const hookId = hookIdOf(state, point, pluginId);
    return plugins.outcomes.has(hookId) ? [] : [{ hookId, pluginId, frame: point.frame, point }];
  });
}

function dueActions(state: RunState): readonly DueHook[] {
  const { plugins } = state;
  if (plugins === undefined) return [];
  // What only waits must not delay the end of a run.
  const due = plugins.actions.filter(
    (each) =>
      (plugins.ending === undefined || each.dueAtMs === undefined) && isPointOver(state, each),
  );
  return due.map((action) => ({
    hookId: action.hookId,
    pluginId: action.pluginId,
    frame: rootId,
    action,
  }));
}

function duePoints(state: RunState): readonly HookPoint[] {
  const start = awaitedStart(state);
  if (start !== undefined) return [start];
  if (state.plugins?.ending !== undefined) return [runEnd(state)];
  return liveFrames(state).flatMap((frame) => (frame.stepOpen ? pointsOfStep(state, frame) : []));
}

function pointsOfStep(state: RunState, frame: Frame): readonly HookPoint[] {
  if (!frame.hasTurn) {
    if (frame.modelCall !== undefined) return [];
    return firstAwaited(state, frame, [HookPhase.STEP_START, HookPhase.BEFORE_INFERENCE]);
  }
  const { STEP_START, AFTER_INFERENCE, STEP_END } = HookPhase;
  // The answer of a workflow follows its calls, that of a model comes with them.
  const [before, after] =
    frame.workflow === undefined
      ? [AFTER_INFERENCE, [STEP_END]]
      : [STEP_START, [AFTER_INFERENCE, STEP_END]];
  const first = firstAwaited(state, frame, [before]);
  if (first.length > 0) return first;
  const scheduled = scheduleCalls(withHeldCalls(state, frame), parallelCallLimit(state, frame));
  const ofCalls = frame.calls.flatMap((call) => pointsOfCall(state, frame, call, scheduled));
  const isOver = ofCalls.length === 0 && frame.calls.every(({ result }) => result !== undefined);
  return isOver ? firstAwaited(state, frame, after) : ofCalls;
}

function firstAwaited(
  state: RunState,
  frame: Frame,
  phases: readonly HookPhase[],
): readonly HookPoint[] {
  const first = phases.find((phase) => awaitsHooks(state, stepPoint(frame, phase)));
  return first === undefined ? [] : [stepPoint(frame, first)];
}

function pointsOfCall(
  state: RunState,
  frame: Frame,
  call: Call,
  scheduled: readonly Call[],
): readonly HookPoint[] {
  if (!isGated(state, call)) return [];
  if (call.result !== undefined) return afterTool(state, frame, call);
  const gate = gateOf(state, frame, call);
  if (gate?.kind === "hooks") return [stepPoint(frame, HookPhase.TOOL_GATE, call)];
  const isNext = gate === undefined && scheduled.includes(call);
  return isNext && awaitsStart(state, frame, call)
    ? [stepPoint(frame, HookPhase.BEFORE_TOOL, call)]
    : [];
}

function afterTool(state: RunState, frame: Frame, call: Call): readonly HookPoint[] {
  return awaitsAfterTool(state, call) ? [stepPoint(frame, HookPhase.AFTER_TOOL, call)] : [];
}
