import type { AgentMedia, BudgetExceeded, RunEvent, RunStatus, Todo } from "@reeve/contracts/run";
import { Phase } from "@reeve/contracts/run";
import type { RunHead } from "@reeve/run/head/run-head";
import { emptyHead } from "@reeve/run/head/run-head";
import type { OpenRemoteTask } from "../delegates/remote-task.ts";
import type { PluginState } from "../plugins/plugin-state.ts";
import type { Frame } from "./frame.ts";
import { newFrame, plannerId, rootId } from "./frame.ts";
import { noUnits } from "./units.ts";
import type { WorkedTime } from "./worked-time.ts";
import { noWorkedTime } from "./worked-time.ts";

/** What the log of a run says, as far as the next decision needs it. Never changed in place. */
export interface RunState {
  /** What every reader of the log knows; the rest of the state is what only the loop needs. */
  readonly head: RunHead;
  /** Claims in a row without progress since. */
  readonly idleClaims: number;
  /** Claims in a row that followed a crash of the previous owner, without progress or a part of an answer since. */
  readonly idleCrashes: number;
  /** The root, the planner while it plans, and the subtasks whose call has no result yet, by id. */
  readonly frames: ReadonlyMap<string, Frame>;
  /** The tasks of agents at endpoints that were open when the delegates for which they worked had ended. */
  readonly leftTasks: readonly OpenRemoteTask[];
  /** The steps that the planner proposed; undefined: there is no plan. */
  readonly plan: readonly string[] | undefined;
  /** The memory that the subtasks of the run share, by key. */
  readonly memory: ReadonlyMap<string, string>;
  readonly todos: readonly Todo[];
  /** The models with which the agents of the run generate media. */
  readonly media: readonly AgentMedia[];
  /** The failed run whose workflow this one continues, until the log has the calls that ended there. */
  readonly inheritsFrom: string | undefined;
  readonly worked: WorkedTime;
  /**
   * US dollars reserved for model calls whose usage will never be known: those that were lost with their owner, or failed
   * after the answer had begun.
   */
  readonly lostUsd: number;
  /** Model calls that failed before any part of an answer came, and that are repeated: the limit does not count them. */
  readonly unansweredCalls: number;
  /** Ids of the artifacts that hold results too large for the log. */
  readonly offloaded: ReadonlySet<string>;
  /** Ids of the artifacts of results that guards refused, changed, or checked only a part of: no tool of the run reads them. */
  readonly withheld: ReadonlySet<string>;
  /** The budget that is used up and ends the run. */
  readonly exceeded: BudgetExceeded | undefined;
  /** The end of the run, once it has begun. */
  readonly ending: Ending | undefined;
  /** The plugins of the operator. Undefined: the run has none. */
  readonly plugins: PluginState | undefined;
}

/** An end that has begun: how the run ends, and which of its closing facts the log has already. */
export interface Ending {
  readonly status: RunStatus;
  readonly message: string;
  readonly hasCost: boolean;
  readonly hasTree: boolean;
}

export const initialState: RunState = {
  head: emptyHead,
  idleClaims: 0,
  idleCrashes: 0,
  frames: new Map([
    [
      rootId,
      newFrame({ id: rootId, depth: 0, subtask: undefined, tools: new Map(), units: noUnits }),
    ],
  ]),
  leftTasks: [],
  plan: undefined,
  memory: new Map(),
  todos: [],
  media: [],
  inheritsFrom: undefined,
  worked: noWorkedTime,
  lostUsd: 0,
  unansweredCalls: 0,
  offloaded: new Set(),
  withheld: new Set(),
  exceeded: undefined,
  ending: undefined,
  plugins: undefined,
};

/** Returns whether the log has the terminal status of the run. */
export function hasEnded({ head }: Pick<RunState, "head">): boolean {
  return head.endSequence !== undefined;
}

/** Returns the frames that may move: the planner alone while it plans, then the root and the open subtasks. */
export function liveFrames({ frames }: RunState): readonly Frame[] {
  const planner = frames.get(plannerId);
  if (planner !== undefined) return [planner];
  return [...frames.values()].filter(({ outcome }) => outcome === undefined);
}

export function rootOf(state: RunState): Frame {
  return frameOf(state, rootId);
}

/** Returns the frame with this id. Throws when the log never began it: no event of a run refers to such a frame. */
export function frameOf({ frames, head }: RunState, id: string): Frame {
  const frame = frames.get(id);
  if (frame === undefined) throw new Error(`run ${head.runId} has no frame "${id}"`);
  return frame;
}

/** Returns the frame that an event concerns. Undefined: the log never began it, or it is gone. */
export function frameOfEvent(
  { frames }: RunState,
  { phase, parentId }: RunEvent,
): Frame | undefined {
  return frames.get(phase === Phase.PLANNER ? plannerId : parentId);
}
