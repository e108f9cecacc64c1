import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { HookPhase, RunHookResponse } from "@reeve/contracts/extensions/plugin";
import type { PinnedPlugin, RunEnding } from "@reeve/contracts/run";

/** What the log of a run says of the plugins of the operator, and of its guards. Never changed in place. */
export interface PluginState {
  /** The plugins of the run, in the order of its plan. */
  readonly pinned: readonly PinnedPlugin[];
  /** The hooks that ended, by id: those of the run and of the last step of each frame. */
  readonly outcomes: ReadonlyMap<string, HookOutcome>;
  /** For each call with such hooks, an object that changes whenever one of them ends, or an action that one of them waits for. */
  readonly versions: ReadonlyMap<string, object>;
  /** The state that plugins keep, by key. */
  readonly values: ReadonlyMap<string, JsonValue>;
  /** The actions that are not handled yet, in the order in which they were scheduled. */
  readonly actions: readonly PendingAction[];
  /** How many actions each hook of a phase has scheduled, with those that its actions scheduled. Without hooks whose actions are all handled. */
  readonly scheduled: ReadonlyMap<string, number>;
  /** The number of the claim under which each call in progress started, by id of the call. */
  readonly startEpochs: ReadonlyMap<string, number>;
  /** The calls whose results wait for hooks, with the id of their frame, by id of the call. */
  readonly awaitedResults: ReadonlyMap<string, string>;
  /** The end of the run for which hooks have to run. Undefined: the run is not about to end. */
  readonly ending: RunEnding | undefined;
  /** Why a plugin ends the run. Undefined: none does. */
  readonly stop: PluginStop | undefined;
}

/** How a hook ended. */
export interface HookOutcome {
  readonly pluginId: string;
  readonly phase: HookPhase;
  /** Id of the frame and number of the step in which it ran. */
  readonly frame: string;
  readonly step: number;
  /** Id of the call that it was about. Empty: none. */
  readonly callId: string;
  readonly answer: RunHookResponse | undefined;
  /** Why it failed. Empty: it did not. */
  readonly error: string;
}

/** An action that waits for its plugin. */
export interface PendingAction {
  /** Id of the hook that handles it. */
  readonly hookId: string;
  /** Id of the hook that cannot end without it. Empty: nothing waits for it. */
  readonly originId: string;
  /** Id of the hook of a phase with which its row of actions began, and the phase. */
  readonly rootId: string;
  readonly rootPhase: HookPhase;
  readonly pluginId: string;
  readonly name: string;
  readonly payload: JsonObject | undefined;
  readonly round: number;
  /** When it is due, in milliseconds since the epoch. Undefined: at once. */
  readonly dueAtMs: number | undefined;
}

export interface PluginStop {
  /** The constant of the error. */
  readonly error: "plugin_failed" | "plugin_stopped" | "guardrail_tripped";
  readonly message: string;
}

export function pluginState(pinned: readonly PinnedPlugin[]): PluginState {
  return {
    pinned,
    outcomes: new Map(),
    versions: new Map(),
    values: new Map(),
    actions: [],
    scheduled: new Map(),
    startEpochs: new Map(),
    awaitedResults: new Map(),
    ending: undefined,
    stop: undefined,
  };
}

/** Returns the id of a plugin of a run. */
export function idOf({ plugin }: PinnedPlugin): string {
  return plugin?.pluginDescriptor?.id ?? "";
}
