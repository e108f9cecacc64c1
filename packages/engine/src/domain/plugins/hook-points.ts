import { HookPhase, HookPhaseSchema } from "@reeve/contracts/extensions/plugin";
import type { PinnedPlugin } from "@reeve/contracts/run";
import { delegateFrames } from "../delegates/callers-of.ts";
import { guardsAt } from "../guardrails/guards-at.ts";
import type { Call, Frame } from "../state/frame.ts";
import { plannerId, rootId } from "../state/frame.ts";
import { executionId } from "../calls/execution-id.ts";
import type { RunState } from "../state/run-state.ts";
import type { HookPoint } from "./hook-point.ts";
import type { HookOutcome, PendingAction } from "./plugin-state.ts";
import { idOf } from "./plugin-state.ts";

/** Returns the name of a phase, such as `run_start`. */
export function phaseName(phase: HookPhase): string {
  return HookPhaseSchema.value[phase]?.localName.toLowerCase() ?? String(phase);
}

const activation: HookPoint = { phase: HookPhase.ACTIVATE, frame: rootId, step: 0 };
const runStart: HookPoint = { phase: HookPhase.RUN_START, frame: rootId, step: 0 };
/** The point after the end of a run. What its hooks answer is not in the log. */
export const deactivation: HookPoint = { phase: HookPhase.DEACTIVATE, frame: rootId, step: 0 };

/** Returns the point before the planner and the first step whose hooks have not ended. Undefined: there is none. */
export function awaitedStart(state: RunState): HookPoint | undefined {
  return [activation, runStart].find((point) => awaitsHooks(state, point));
}

/** Returns a point of the open step of a frame. */
export function stepPoint({ id, step }: Frame, phase: HookPhase, call?: Call): HookPoint {
  return { phase, frame: id, step, ...(call && { call }) };
}

/** Returns the point before the end of a run. A run that continues because of a message has another one later. */
export function runEnd({ frames }: RunState): HookPoint {
  return { phase: HookPhase.RUN_END, frame: rootId, step: frames.get(rootId)?.step ?? 0 };
}

/** How often the arguments of a call were replaced: a gate decides on each form of a call anew. */
export function gateRound(call: Call): number {
  return (call.rewrittenBy === undefined ? 0 : 1) + (isEdited(call) ? 1 : 0);
}

function isEdited({ approval }: Call): boolean {
  return approval?.decision?.editedArguments !== undefined;
}

/** Returns the parts of the id of a hook that tell apart what it decides on: each approval of a call may have other edited arguments. */
function formOf(phase: HookPhase, call: Call | undefined): readonly string[] {
  if (call === undefined) return [];
  const round = phase === HookPhase.TOOL_GATE ? gateRound(call) : 0;
  const isDecision = phase === HookPhase.TOOL_GATE || phase === HookPhase.BEFORE_TOOL;
  return [
    ...(round === 0 ? [] : [`round-${round}`]),
    ...(isDecision && isEdited(call) ? [`edited-${executionId(call)}`] : []),
  ];
}

/** Returns the id of the hook of a plugin at a point: the same for every worker, and different for every point of every run. */
export function hookIdOf(
  { head: { runId } }: RunState,
  { phase, frame, step, call }: HookPoint,
  pluginId: string,
): string {
  return [
    runId,
    frame === rootId ? "root" : frame,
    step,
    phaseName(phase),
    ...(call === undefined ? [] : [call.call.callId]),
    ...formOf(phase, call),
    pluginId,
  ].join(":");
}

/** Returns the plugins that have a hook at a point. It stays the same until the point is over. */
export function hookedPlugins(state: RunState, point: HookPoint): readonly PinnedPlugin[] {
  return (state.plugins?.pinned ?? []).filter(
    (each) =>
      each.plugin?.pluginDescriptor?.phases.includes(point.phase) === true &&
      takesPart(state, each, point),
  );
}

/** Whether a plugin takes part in what a frame does. Guards have a hook only where they look at something. */
function takesPart(
  state: RunState,
  { guardrails, delegateIds }: PinnedPlugin,
  point: HookPoint,
): boolean {
  if (guardrails !== undefined) return guardsAt(state, point).length > 0;
  if (ofAllPlugins.has(point.phase)) return true;
  const frame = state.frames.get(point.frame);
  if (frame?.workflow !== undefined && ofModels.has(point.phase)) return false;
  if (delegateIds.length === 0) return true;
  if (frame === undefined || point.step === 0) return false;
  return delegateFrames(state, frame).some(({ delegate }) =>
    delegateIds.includes(delegate?.agentId ?? ""),
  );
}

/** The phases of a run in which plugins that only delegates name take part too. */
const ofAllPlugins: ReadonlySet<HookPhase> = new Set([HookPhase.ACTIVATE, HookPhase.DEACTIVATE]);

/** The phases of a step that a workflow has for its guards only: no model is called in it. */
const ofModels: ReadonlySet<HookPhase> = new Set([
  HookPhase.STEP_START,
  HookPhase.BEFORE_INFERENCE,
  HookPhase.AFTER_INFERENCE,
]);

/** Whether hooks of a point, or actions that they scheduled, have not ended. The planner has hooks for its calls only. */
export function awaitsHooks(state: RunState, point: HookPoint): boolean {
  const { plugins } = state;
  if (plugins === undefined) return false;
  if (point.frame === plannerId && point.call === undefined) return false;
  return hookedPlugins(state, point).some((each) => {
    const id = hookIdOf(state, point, idOf(each));
    return !plugins.outcomes.has(id) || plugins.actions.some(({ originId }) => originId === id);
  });
}

/** Whether all hooks of the point at which a row of actions began have ended. The hooks of earlier steps have. */
export function isPointOver(
  state: RunState,
  { rootId: root, pluginId }: Pick<PendingAction, "rootId" | "pluginId">,
): boolean {
  const outcome = state.plugins?.outcomes.get(root);
  return outcome === undefined || outcomesAt(state, root, outcome, pluginId) !== undefined;
}

/**
 * Returns the outcomes of all hooks of the point at which a hook of a plugin ended, in the order of the plugins. Undefined: not all of them have
 * ended.
 */
export function outcomesAt(
  state: RunState,
  hookId: string,
  { phase, frame, step, callId }: Pick<HookOutcome, "phase" | "frame" | "step" | "callId">,
  pluginId: string,
): readonly HookOutcome[] | undefined {
  const prefix = hookId.slice(0, -pluginId.length);
  const call = state.frames.get(frame)?.calls.find((each) => each.call.callId === callId);
  const point = { phase, frame, step, ...(call && { call }) };
  const all = hookedPlugins(state, point).map((each) =>
    state.plugins?.outcomes.get(prefix + idOf(each)),
  );
  return all.every((each) => each !== undefined) ? all : undefined;
}

/** Whether hooks before the model call of the open step have not ended. */
export function awaitsModelHooks(state: RunState, frame: Frame): boolean {
  const phases = [HookPhase.STEP_START, HookPhase.BEFORE_INFERENCE] as const;
  return phases.some((phase) => awaitsHooks(state, stepPoint(frame, phase)));
}
