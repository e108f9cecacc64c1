import { create } from "@bufbuild/protobuf";
import { durationMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { HookPhase } from "@reeve/contracts/extensions/plugin";
import type { PluginHookFinished, RunEvent } from "@reeve/contracts/run";
import { Phase, StepState } from "@reeve/contracts/run";
import { ToolCallSchema } from "@reeve/contracts/tool";
import { applyVerdicts } from "../guardrails/apply-verdicts.ts";
import { guardStop } from "../guardrails/guard-stop.ts";
import type { Call, Frame } from "../state/frame.ts";
import { plannerId } from "../state/frame.ts";
import { withNewest } from "../state/units.ts";
import type { RunState } from "../state/run-state.ts";
import { withAwaitedResult, withoutPassedResults } from "./call-hooks.ts";
import { gateRound, outcomesAt, phaseName } from "./hook-points.ts";
import { rewriteAmong } from "./gate-verdict.ts";
import type { HookOutcome, PendingAction, PluginState, PluginStop } from "./plugin-state.ts";
import { idOf, pluginState } from "./plugin-state.ts";
import { valuesAfter } from "./waiting-patches.ts";

/** Applies one event to what the log says of plugins. */
export function applyToPlugins(state: RunState, envelope: RunEvent): RunState {
  const { event } = envelope;
  if (event.case === "pluginsPinned") {
    return { ...state, plugins: pluginState(event.value.plugins) };
  }
  const { plugins } = state;
  if (plugins === undefined) return state;
  if (event.case === "runEnding") return { ...state, plugins: { ...plugins, ending: event.value } };
  if (event.case === "pluginHookFinished") {
    return withoutPassedResults(finished(state, plugins, envelope, event.value));
  }
  if (event.case === "step" && event.value.state === StepState.STARTED) {
    return { ...state, plugins: inNewStep(plugins, envelope) };
  }
  if (event.case === "subtask" && event.value.ended) {
    return { ...state, plugins: withoutFrame(plugins, event.value.subtaskId) };
  }
  if (event.case === "toolCallStarted") {
    const epoch = state.head.claim?.epoch ?? 1;
    const startEpochs = new Map(plugins.startEpochs).set(event.value.callId, epoch);
    return { ...state, plugins: { ...plugins, startEpochs } };
  }
  if (event.case === "toolResult") {
    const startEpochs = new Map(plugins.startEpochs);
    const callId = event.value.result?.callId ?? "";
    startEpochs.delete(callId);
    const frameId = envelope.phase === Phase.PLANNER ? plannerId : envelope.parentId;
    return withAwaitedResult({ ...state, plugins: { ...plugins, startEpochs } }, frameId, callId);
  }
  return state;
}

const ofRunStart: ReadonlySet<HookPhase> = new Set([HookPhase.ACTIVATE, HookPhase.RUN_START]);

/** Forgets what only the earlier steps of a frame needed. A run that starts a step is not about to end. */
function inNewStep(plugins: PluginState, { parentId }: RunEvent): PluginState {
  const kept = [...plugins.outcomes].filter(
    ([, { frame, phase }]) => (frame !== parentId && frame !== plannerId) || ofRunStart.has(phase),
  );
  const ofFrame = new Set([parentId, plannerId]);
  return { ...awaitingNothing(withOutcomes(plugins, kept), ofFrame), ending: undefined };
}

function withoutFrame(plugins: PluginState, id: string): PluginState {
  const kept = [...plugins.outcomes].filter(([, { frame }]) => frame !== id);
  return awaitingNothing(withOutcomes(plugins, kept), new Set([id]));
}

function withOutcomes(
  plugins: PluginState,
  kept: readonly (readonly [string, HookOutcome])[],
): PluginState {
  const calls = new Set(kept.map(([, { callId }]) => callId));
  const versions = [...plugins.versions].filter(([callId]) => calls.has(callId));
  return { ...plugins, outcomes: new Map(kept), versions: new Map(versions) };
}

function awaitingNothing(plugins: PluginState, frames: ReadonlySet<string>): PluginState {
  const kept = [...plugins.awaitedResults].filter(([, frame]) => !frames.has(frame));
  return { ...plugins, awaitedResults: new Map(kept) };
}

function finished(
  state: RunState,
  plugins: PluginState,
  envelope: RunEvent,
  value: PluginHookFinished,
): RunState {
  const { pluginId, phase, hookId, callId, answer, error } = value;
  const outcome: HookOutcome = {
    pluginId,
    phase,
    frame: envelope.phase === Phase.PLANNER ? plannerId : envelope.parentId,
    step: envelope.stepNumber,
    callId,
    answer,
    error,
  };
  const action = plugins.actions.find((each) => each.hookId === hookId);
  const isAction = phase === HookPhase.ACTION;
  const actions = [
    ...plugins.actions.filter((each) => each !== action),
    ...actionsOf(value, action, msOf(envelope)),
  ];
  const about = isAction ? plugins.outcomes.get(action?.originId ?? "")?.callId : callId;
  const after: PluginState = {
    ...plugins,
    versions: about ? new Map(plugins.versions).set(about, {}) : plugins.versions,
    outcomes: isAction ? plugins.outcomes : new Map(plugins.outcomes).set(hookId, outcome),
    actions,
    scheduled: scheduledAfter(plugins, actions),
    stop: plugins.stop ?? stopOf(plugins, value),
  };
  if (isAction) return { ...state, plugins: withPatches(after, [outcome]) };
  const ended = applyVerdicts({ ...state, plugins: after }, envelope, value);
  const together = outcomesAt(ended, hookId, outcome, pluginId);
  if (together === undefined) return ended;
  const complete = { ...ended, plugins: withPatches(after, together) };
  return withTransform(withRewrite(complete, together, value.callId), envelope, together);
}

function withPatches(plugins: PluginState, outcomes: readonly HookOutcome[]): PluginState {
  return { ...plugins, values: valuesAfter(plugins, outcomes) };
}

function actionsOf(
  { hookId, pluginId, phase, answer }: PluginHookFinished,
  before: PendingAction | undefined,
  nowMs: number,
): readonly PendingAction[] {
  return (answer?.actions ?? []).map(({ name, payload, delay }, index) => ({
    hookId: `${hookId}:${index}`,
    originId: delay === undefined ? (before?.originId ?? hookId) : "",
    rootId: before?.rootId ?? hookId,
    rootPhase: before?.rootPhase ?? phase,
    pluginId,
    name,
    payload,
    // Rounds count only actions without a delay.
    round: delay === undefined ? (before?.round ?? 0) + 1 : 1,
    dueAtMs: delay === undefined ? undefined : nowMs + durationMs(delay),
  }));
}

function scheduledAfter(
  { scheduled, actions: before }: PluginState,
  actions: readonly PendingAction[],
): ReadonlyMap<string, number> {
  const known = new Set(before.map(({ hookId }) => hookId));
  const counts = new Map<string, number>();
  for (const { hookId, rootId } of actions) {
    const count = counts.get(rootId) ?? scheduled.get(rootId) ?? 0;
    counts.set(rootId, count + (known.has(hookId) ? 0 : 1));
  }
  return counts;
}

function stopOf({ pinned }: PluginState, finishedHook: PluginHookFinished): PluginStop | undefined {
  const { pluginId, phase, answer, error } = finishedHook;
  const tripped = guardStop(finishedHook);
  if (tripped !== undefined) return tripped;
  if (answer?.verdict.case === "stop") {
    const { reason } = answer.verdict.value;
    const message = `the plugin ${pluginId} stopped the run${reason === "" ? "" : `: ${reason}`}`;
    return { error: "plugin_stopped", message };
  }
  const plugin = pinned.find((each) => idOf(each) === pluginId)?.plugin;
  // The gate refuses the call instead.
  if (error === "" || phase === HookPhase.TOOL_GATE || plugin?.ignoresFailures) return undefined;
  return {
    error: "plugin_failed",
    message: `the hook ${phaseName(phase)} of the plugin ${pluginId} failed: ${error}`,
  };
}

/** Gives a call the arguments of the plugin that replaces them. What follows decides on the call as it will be executed. */
function withRewrite(state: RunState, outcomes: readonly HookOutcome[], callId: string): RunState {
  const frame = state.frames.get(outcomes[0]?.frame ?? "");
  const call = frame?.calls.find((each) => each.call.callId === callId);
  const rewrite = call && rewriteAmong(outcomes, call);
  if (rewrite?.verdict.case !== "rewrite" || frame === undefined) return state;
  const args = rewrite.verdict.value.arguments ?? {};
  const calls = frame.calls.map((each) =>
    each.call.callId === callId && gateRound(each) === 0
      ? rewritten(each, args, rewrite.pluginId)
      : each,
  );
  const newest = frame.units.newest?.value;
  const units =
    newest?.kind === "turn" && frame.hasTurn
      ? withNewest(frame.units, { ...newest, calls })
      : frame.units;
  return withFrame(state, { ...frame, calls, units });
}

function rewritten(pending: Call, args: Call["call"]["arguments"], rewrittenBy: string): Call {
  const call = create(ToolCallSchema, { ...pending.call, ...(args && { arguments: args }) });
  return { ...pending, call, rewrittenBy, requested: pending.call };
}

/** The counts of a provider do not include what plugins add to the request. */
function withTransform(
  state: RunState,
  { parentId }: RunEvent,
  outcomes: readonly HookOutcome[],
): RunState {
  const frame = state.frames.get(parentId);
  const isChanged = outcomes.some(({ answer }) => answer?.transform !== undefined);
  if (!isChanged || frame === undefined) return state;
  return withFrame(state, { ...frame, measured: undefined, counted: undefined });
}

function withFrame(state: RunState, frame: Frame): RunState {
  return { ...state, frames: new Map(state.frames).set(frame.id, frame) };
}

function msOf({ time }: RunEvent): number {
  return time === undefined ? 0 : timestampMs(time);
}
