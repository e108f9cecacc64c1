import type {
  ModelCallFailed,
  MessageSubmitted,
  ModelTurn,
  RunClaimed,
  RunCreated,
  RunError,
  RunPrepared,
} from "@reeve/contracts/run";
import type { Approval } from "@reeve/contracts/approval";
import type { ToolCall, ToolDescriptor, ToolResult } from "@reeve/contracts/tool";

/** What the log of a run says, as far as the next decision needs it. Never changed in place. */
export interface RunState {
  readonly runId: string;
  /** Sequence of the last event that is folded in. */
  readonly sequence: number;
  readonly created: RunCreated | undefined;
  readonly prepared: RunPrepared | undefined;
  /** The tools of the agent, by name. */
  readonly tools: ReadonlyMap<string, ToolDescriptor>;
  readonly claim: RunClaimed | undefined;
  /** Whether the run rests, without an owner, until a fact from outside. */
  readonly parked: boolean;
  /** Claims in a row after which nothing was achieved. */
  readonly idleClaims: number;
  readonly end: RunEnd | undefined;
  readonly frame: Frame;
  /** Messages from outside that no step has taken up, oldest first. */
  readonly inbox: readonly MessageSubmitted[];
  readonly spent: Spent;
  readonly error: RunError | undefined;
}

export type RunEnd = "completed" | "error" | "cancelled";

/** One loop of model turns: the root's. */
export interface Frame {
  /** Number of the current or last step; 0 before the first. */
  readonly step: number;
  readonly stepOpen: boolean;
  /** The conversation since the input: turns, and messages that were injected between them. */
  readonly entries: readonly Entry[];
  /** The call of a model for the open step, while its answer is not known. */
  readonly modelCall: ModelCall | undefined;
  /** The calls of the open step, in the order of the model. */
  readonly calls: readonly Call[];
  /** Whether the open step has its turn. */
  readonly turnTaken: boolean;
}

/** An attempt to have the model answer. */
export interface ModelCall {
  readonly attempt: number;
  /** Sequence of its `model_call_started`. */
  readonly sequence: number;
  readonly status: "under_way" | "abandoned" | ModelCallFailed;
  /** Sequence of the first text or reasoning that it streamed. */
  readonly streamedFrom: number | undefined;
}

export type Entry =
  | { readonly kind: "turn"; readonly turn: ModelTurn; readonly calls: readonly Call[] }
  | { readonly kind: "user"; readonly text: string };

/** A tool call and how far it has come. */
export interface Call {
  readonly call: ToolCall;
  /** When the model made it, in milliseconds since the epoch. */
  readonly askedAtMs: number;
  readonly approval: Approval | undefined;
  readonly result: ToolResult | undefined;
}

/** What the run has used so far. */
export interface Spent {
  readonly llmCalls: number;
  readonly toolCalls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars; undefined once a model without a price was called. */
  readonly costUsd: number | undefined;
}

export const initialState: RunState = {
  runId: "",
  sequence: 0,
  created: undefined,
  prepared: undefined,
  tools: new Map(),
  claim: undefined,
  parked: false,
  idleClaims: 0,
  end: undefined,
  frame: {
    step: 0,
    stepOpen: false,
    entries: [],
    modelCall: undefined,
    calls: [],
    turnTaken: false,
  },
  inbox: [],
  spent: { llmCalls: 0, toolCalls: 0, inputTokens: 0, outputTokens: 0, costUsd: 0 },
  error: undefined,
};
