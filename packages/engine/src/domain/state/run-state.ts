import type {
  BudgetExceeded,
  MessageSubmitted,
  RunClaimed,
  RunCreated,
  RunPrepared,
  RunStatus,
  Todo,
} from "@reeve/contracts/run";
import type { TreeNodes } from "@reeve/run/tree/execution-tree";
import type { Frame } from "./frame.ts";
import { newFrame, plannerId, rootId } from "./frame.ts";
import type { Ledger } from "./ledger.ts";
import { emptyLedger } from "./ledger.ts";
import type { WorkedTime } from "./worked-time.ts";
import { noWorkedTime } from "./worked-time.ts";

/** What the log of a run says, as far as the next decision needs it. Never changed in place. */
export interface RunState {
  readonly runId: string;
  /** Sequence of the last event that is folded in. */
  readonly sequence: number;
  readonly created: RunCreated | undefined;
  readonly prepared: RunPrepared | undefined;
  readonly claim: RunClaimed | undefined;
  /** Whether the run rests, without an owner, until a fact from outside. */
  readonly parked: boolean;
  /** Claims in a row after which nothing was achieved. */
  readonly idleClaims: number;
  readonly end: RunEnd | undefined;
  /** The root, the planner while it plans, and the subtasks whose call has no result yet, by id. */
  readonly frames: ReadonlyMap<string, Frame>;
  /** What the planner came to; undefined: there is no plan. */
  readonly plan: readonly string[] | undefined;
  /** What the subtasks of the run share, by key. */
  readonly memory: ReadonlyMap<string, string>;
  readonly todos: readonly Todo[];
  /** Messages from outside that no step has taken up, oldest first. */
  readonly inbox: readonly MessageSubmitted[];
  readonly spent: Ledger;
  readonly worked: WorkedTime;
  /** Ids of the artifacts that hold what was too large for a result. */
  readonly offloaded: ReadonlySet<string>;
  readonly tree: TreeNodes;
  /** The budget that is used up, and for which the run ends. */
  readonly exceeded: BudgetExceeded | undefined;
  /** The end of the run, once it was begun. */
  readonly ending: Ending | undefined;
}

export type RunEnd = "completed" | "error" | "cancelled";

/** An end that was begun: how the run ends, and what of it the log tells already. */
export interface Ending {
  readonly status: RunStatus;
  readonly message: string;
  readonly hasCost: boolean;
  readonly hasTree: boolean;
}

export const initialState: RunState = {
  runId: "",
  sequence: 0,
  created: undefined,
  prepared: undefined,
  claim: undefined,
  parked: false,
  idleClaims: 0,
  end: undefined,
  frames: new Map([
    [rootId, newFrame({ id: rootId, depth: 0, subtask: undefined, tools: new Map(), units: [] })],
  ]),
  plan: undefined,
  memory: new Map(),
  todos: [],
  inbox: [],
  spent: emptyLedger,
  worked: noWorkedTime,
  offloaded: new Set(),
  tree: new Map(),
  exceeded: undefined,
  ending: undefined,
};

/** The frames that may move: the planner alone while it plans; then the root and the subtasks that have not ended. */
export function liveFrames({ frames }: RunState): readonly Frame[] {
  const planner = frames.get(plannerId);
  if (planner !== undefined) return [planner];
  return [...frames.values()].filter(({ outcome }) => outcome === undefined);
}

export function rootOf(state: RunState): Frame {
  return frameOf(state, rootId);
}

/** The frame of this id. Throws when the log never began it: nothing that a run writes refers to such a one. */
export function frameOf({ frames, runId }: RunState, id: string): Frame {
  const frame = frames.get(id);
  if (frame === undefined) throw new Error(`run ${runId} has no frame "${id}"`);
  return frame;
}
