import type { JsonObject } from "@bufbuild/protobuf";
import type { Approval } from "@reeve/contracts/approval";
import type { ModelCallFailed, ModelCallPurpose, ModelTurn } from "@reeve/contracts/run";
import { Phase } from "@reeve/contracts/run";
import type { HistoryMessage } from "@reeve/contracts/thread";
import type { ToolCall, ToolDescriptor, ToolResult } from "@reeve/contracts/tool";
import type { Linked } from "@reeve/run/head/linked";
import type { Scope } from "./fact.ts";

/** One loop of model turns: the root's, a subtask's, or the planner's. Never changed in place. */
export interface Frame {
  /** The id of the subtask; `rootId` or `plannerId` for the others. */
  readonly id: string;
  readonly depth: number;
  /** What a subtask was begun with. Undefined: the frame is none. */
  readonly subtask: Subtask | undefined;
  /** The tools that the frame has, by name. */
  readonly tools: ReadonlyMap<string, ToolDescriptor>;
  /** Number of the current or last step; 0 before the first. The planner counts too, but shows no steps. */
  readonly step: number;
  readonly stepOpen: boolean;
  /** The conversation: what was given, then turns, and messages that were injected between them. */
  readonly units: Units;
  /** What was taken out of the conversation to make it smaller. */
  readonly compaction: Compaction | undefined;
  /** Whether the conversation was made smaller in the open step. */
  readonly isCompacted: boolean;
  /** Whether the provider refused the conversation of the open step because it is too large for the model. */
  readonly hasOverflowed: boolean;
  /** The size of the conversation when a provider last told it. */
  readonly measured: Measure | undefined;
  /** The call of a model that the open step waits for. */
  readonly modelCall: ModelCall | undefined;
  /** The calls of the open step, or of the last, in the order of the model. */
  readonly calls: readonly Call[];
  /** Whether the open step has its turn, or the last had it. */
  readonly hasTurn: boolean;
  /** The text of the open step, as far as it stands. */
  readonly text: string;
  /**
   * What subtasks of the open step came to, by key of the memory. It is read from the next step on, so that none of them
   * sees what those beside it did, however fast they were.
   */
  readonly pendingMemory: ReadonlyMap<string, string>;
  /** How a subtask ended. */
  readonly outcome: Outcome | undefined;
}

/** Why and how a subtask runs. */
export interface Subtask {
  /** Id of the frame that began it. */
  readonly parent: string;
  readonly callId: string;
  /** Its place among the jobs of the call. */
  readonly index: number;
  readonly job: Job;
}

/** What a subtask is asked to do. */
export interface Job {
  readonly title: string;
  readonly instructions: string;
  readonly additionalContext: string;
  /** Names of the tools that it may have. Undefined: all that its parent may give. */
  readonly tools: readonly string[] | undefined;
  /** Schema of its result. Undefined: the result is its last text. */
  readonly outputSchema: JsonObject | undefined;
  /** Framing of its system prompt; empty: none. */
  readonly systemPrompt: string;
}

/** What a subtask came to. */
export type Outcome =
  | { readonly kind: "done"; readonly content: string; readonly payload: JsonObject | undefined }
  | { readonly kind: "failed"; readonly error: string; readonly message: string };

/** A part of the conversation that is kept or taken out as a whole: no call is ever parted from its result. */
export type Unit =
  | { readonly kind: "user"; readonly text: string; readonly isInput: boolean }
  | { readonly kind: "assistant"; readonly text: string }
  /** A turn of an earlier run of the thread, and the results of its calls. */
  | { readonly kind: "past"; readonly messages: readonly HistoryMessage[] }
  | TurnUnit;

/** The units of a conversation. Never changed in place; units.ts builds and reads them. */
export interface Units {
  readonly newest: Linked<Unit> | undefined;
  readonly length: number;
  /** Index of the latest message of the user. */
  readonly latestUser: number | undefined;
}

export interface TurnUnit {
  readonly kind: "turn";
  readonly turn: ModelTurn;
  readonly text: string;
  readonly calls: readonly Call[];
}

interface Compaction {
  /** How many of the oldest units were taken out. */
  readonly removed: number;
  /** The unit among them that stays: the latest message of the user at that time. */
  readonly kept: number | undefined;
  /** What stands for the others; empty: nothing does. */
  readonly summary: string;
}

interface Measure {
  /** How many units were counted. */
  readonly units: number;
  readonly tokens: number;
  /** Whether the results of the last of them were counted too. */
  readonly withResults: boolean;
}

/** An attempt to have a model answer. */
export interface ModelCall {
  readonly attempt: number;
  /** How many attempts the provider has failed; those that were lost with their owner are no fault of its. */
  readonly failures: number;
  readonly purpose: ModelCallPurpose;
  /** Sequence of its `model_call_started`. */
  readonly sequence: number;
  /** `due`: another attempt is to be made at once, because the owner was lost or the time to wait is over. */
  readonly status: "in_progress" | "due" | ModelCallFailed;
  /** Sequence of the first text or reasoning that it streamed. */
  readonly streamedFrom: number | undefined;
  /** The most that it may cost, in US dollars; 0 when nothing was reserved. */
  readonly reservedUsd: number;
}

/** A tool call and how far it has come. */
export interface Call {
  readonly call: ToolCall;
  /** When the model made it, in milliseconds since the epoch. */
  readonly requestedAtMs: number;
  /** When it was handed to its tool; undefined: it was not yet. */
  readonly startedAtMs: number | undefined;
  readonly approval: Approval | undefined;
  /** What its tool has asked people, each as it stands. */
  readonly questions: readonly Approval[];
  readonly result: ToolResult | undefined;
}

export const rootId = "";
/** No subtask has it: their ids begin with that of the run. */
export const plannerId = "planner";

export function newFrame(
  given: Pick<Frame, "id" | "depth" | "subtask" | "tools" | "units">,
): Frame {
  return {
    ...given,
    step: 0,
    stepOpen: false,
    compaction: undefined,
    isCompacted: false,
    hasOverflowed: false,
    measured: undefined,
    modelCall: undefined,
    calls: [],
    hasTurn: false,
    text: "",
    pendingMemory: new Map(),
    outcome: undefined,
  };
}

/** Where the frame is. */
export function scopeOf({ id, depth, step }: Frame): Scope {
  return id === plannerId
    ? { parentId: "", depth: 0, step: 0, phase: Phase.PLANNER }
    : { parentId: id, depth, step, phase: Phase.EXECUTOR };
}
