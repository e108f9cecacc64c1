import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { Approval } from "@reeve/contracts/approval";
import type {
  IncompleteReason,
  ModelCallFailed,
  ModelCallPurpose,
  ModelTurn,
} from "@reeve/contracts/run";
import { Phase } from "@reeve/contracts/run";
import type { ContentPart } from "@reeve/contracts/content/parts";
import type { HistoryMessage } from "@reeve/contracts/thread";
import type {
  PermissionDecision,
  ToolCall,
  ToolDescriptor,
  ToolResult,
} from "@reeve/contracts/tool";
import type { Ledger } from "@reeve/run/head/ledger";
import { emptyLedger } from "@reeve/run/head/ledger";
import type { Linked } from "@reeve/run/head/linked";
import type { ClientCall } from "./client-call.ts";
import type { MediaCall } from "./media-call.ts";
import type { Scope } from "./fact.ts";
import type { CallableAgent } from "@reeve/agent/workflow/node-catalog";
import type { Workflow } from "@reeve/contracts/extensions/workflow";

/** The state of one loop of model turns: the root, a subtask, or the planner. Never changed in place. */
export interface Frame {
  /** Id of the subtask; `rootId` or `plannerId` for the others. */
  readonly id: string;
  readonly depth: number;
  /** Undefined: the frame is the root or the planner. */
  readonly subtask: Subtask | undefined;
  /** The delegate that works in the frame. Undefined: the agent of the run does. */
  readonly delegate: DelegateCall | undefined;
  /** What a delegate and its subtasks have used, in the frame in which it began. Undefined in all other frames. */
  readonly used: DelegateUsage | undefined;
  /** The tools of the frame, by name. */
  readonly tools: ReadonlyMap<string, ToolDescriptor>;
  /** What makes the calls of the frame, all in one step. Undefined: a model does. */
  readonly workflow: FrameWorkflow | undefined;
  /** Number of the current or last step; 0 before the first. The planner counts steps, but has no step events. */
  readonly step: number;
  /** The last step that answered before a message was taken up: the limit of steps counts from there. */
  readonly answeredStep: number;
  readonly stepOpen: boolean;
  /** Sequence of the start of the current or last step; 0 before the first. */
  readonly stepSequence: number;
  /** How many messages of people the frame took up in the open step. */
  readonly injected: number;
  /** The conversation: the given messages, then turns, and messages that were injected between them. */
  readonly units: Units;
  /** What was removed from the conversation. */
  readonly compaction: Compaction | undefined;
  /** Whether the conversation was compacted in the open step. */
  readonly isCompacted: boolean;
  /** Whether the provider refused the conversation in the open step because it is too large for the model. */
  readonly hasOverflowed: boolean;
  /** The size of the conversation when a provider last reported it. */
  readonly measured: Measure | undefined;
  /** The provider's count of the next request in the open step; 0: it gave none. Undefined: it was not asked. */
  readonly counted: number | undefined;
  /** What the runtime's count of a request is multiplied by to be an upper bound of the provider's; at least 1. */
  readonly scale: number;
  /** How many of the fallback models took over, one after the other; 0: the frame has its own model. */
  readonly fallback: number;
  /** The task of an agent at an endpoint, which works in the frame. Undefined: it has none yet, or the agent works here. */
  readonly remote: RemoteTask | undefined;
  /** The model call of the open step. */
  readonly modelCall: ModelCall | undefined;
  /** The tool calls of the open or last step, in the order of the model. */
  readonly calls: readonly Call[];
  /** Whether the open or last step has its turn. A step of a workflow needs none, and counts as one that has it. */
  readonly hasTurn: boolean;
  /** Sequence of the first text or reasoning of that turn that was streamed. Undefined: none was, or it is void. */
  readonly turnStreamedFrom: number | undefined;
  /** The text of the open step so far, without voided text. */
  readonly text: string;
  /**
   * The outcomes of the open step's subtasks, by key of the memory. They become readable in the next step, so that what a
   * subtask sees does not depend on how fast its siblings are. A workflow keeps them: it has one step.
   */
  readonly pendingMemory: ReadonlyMap<string, string>;
  /** How a subtask ended. */
  readonly outcome: Outcome | undefined;
}

/** A task of an agent at an endpoint. */
interface RemoteTask {
  /** Empty: the last task has ended, and the next message begins another one in its context. */
  readonly taskId: string;
  readonly contextId: string;
  /** The last step whose message the remote agent has accepted. */
  readonly step: number;
}

/** The workflow of a frame. */
export interface FrameWorkflow {
  readonly graph: Workflow;
  /** The message that starts it. */
  readonly input: string;
  /** The agents that its nodes may call. */
  readonly agents: readonly CallableAgent[];
  /** What guards say of the answer. Undefined: it passed as it is, or none has checked it. */
  readonly guardedAnswer?: GuardedAnswer;
}

/** The answer of a workflow in place of its own, or why it has none. */
type GuardedAnswer =
  | { readonly replacement: JsonValue; readonly refusal?: undefined }
  | { readonly refusal: string; readonly replacement?: undefined };

/** A delegate at work. */
interface DelegateCall {
  readonly agentId: string;
  /** Id of the frame in which it began. */
  readonly frameId: string;
}

/** What a delegate and its subtasks have used. */
export interface DelegateUsage {
  readonly spent: Ledger;
  /** As `lostUsd` and `unansweredCalls` of the run. */
  readonly lostUsd: number;
  readonly unansweredCalls: number;
  /** For how long the run had been worked on when the delegate began, in milliseconds. */
  readonly beganAtWorkedMs: number;
}

/** Origin and task of a subtask. */
export interface Subtask {
  /** Id of the frame that began the subtask. */
  readonly parent: string;
  readonly callId: string;
  /** Index among the jobs of the call. */
  readonly index: number;
  readonly job: Job;
}

/** The task of a subtask. */
export interface Job {
  readonly title: string;
  /** Id of the agent that works on it. Undefined: the agent of the caller does. */
  readonly agentId?: string | undefined;
  readonly instructions: string;
  readonly additionalContext: string;
  /** Names of the tools that the subtask may use. Undefined: all that its parent may pass on. */
  readonly tools: readonly string[] | undefined;
  /** JSON Schema of the result. Undefined: the result is the last text. */
  readonly outputSchema: JsonObject | undefined;
  /** Added to the system prompt; empty: nothing. */
  readonly systemPrompt: string;
  /** Whether the result is a workflow, which must be valid. Default: it is not. */
  readonly buildsWorkflow?: boolean;
}

/** The outcome of a subtask. */
export type Outcome =
  | {
      readonly kind: "done";
      /** The result as text. It says so if the answer of the subtask is incomplete. */
      readonly content: string;
      readonly payload: JsonObject | undefined;
      readonly incomplete: IncompleteReason;
    }
  | { readonly kind: "failed"; readonly error: string; readonly message: string };

/** A part of the conversation that is kept or removed as a whole, so that a call and its result are never separated. */
export type Unit =
  | {
      readonly kind: "user";
      readonly text: string;
      /** Parts after the text. Absent: none. */
      readonly parts?: readonly ContentPart[];
      readonly isInput: boolean;
    }
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
  /** Why guards refuse the turn. Undefined: they do not. */
  readonly refusal?: string;
}

interface Compaction {
  /** Number of the oldest units that were removed. */
  readonly removed: number;
  /** Index of the unit among them that is kept: the latest message of the user at that time. */
  readonly kept: number | undefined;
  /** Replaces the removed units; empty: nothing does. */
  readonly summary: string;
}

interface Measure {
  /** Number of units that were counted, without the results of the last one. */
  readonly units: number;
  readonly tokens: number;
}

/** An attempt to get a turn from a model. */
export interface ModelCall {
  readonly attempt: number;
  /** Attempts that the provider failed; attempts that were lost with their owner do not count. */
  readonly failures: number;
  /** Those of them that the retry policy counts: the provider was called. */
  readonly providerFailures: number;
  /** Those of them with a broken answer. */
  readonly malformedAnswers: number;
  readonly purpose: ModelCallPurpose;
  /** Sequence of its `model_call_started`. */
  readonly sequence: number;
  /**
   * `due`: the next attempt starts at once, because the owner was lost or the time to wait is over. `replaced`: another model
   * takes over as soon as the text of this attempt is voided.
   */
  readonly status: "in_progress" | "due" | "replaced" | ModelCallFailed;
  /** When it failed, in milliseconds since the epoch; undefined: it has not. */
  readonly failedAtMs?: number;
  /** When the first failure of a provider that a worker has happened, in milliseconds since the epoch. Undefined: none has. */
  readonly firstFailedAtMs: number | undefined;
  /** When this attempt started, in milliseconds since the epoch. */
  readonly startedAtMs: number;
  /** Sequence of the first text or reasoning that was streamed. */
  readonly streamedFrom: number | undefined;
  /** Maximum cost in US dollars; 0: nothing is reserved. */
  readonly reservedUsd: number;
  /** Tokens of the request at most; 0: not known. */
  readonly inputTokens: number;
  /** The length of the answer that the request asks for. Undefined: the default of the provider. */
  readonly maxOutputTokens: number | undefined;
}

/** A tool call and its progress. */
export interface Call {
  readonly call: ToolCall;
  /** When the model requested the call, in milliseconds since the epoch. */
  readonly requestedAtMs: number;
  /** When the call was handed to its tool; undefined: not yet. */
  readonly startedAtMs: number | undefined;
  readonly approval: Approval | undefined;
  /** What the permission rules decided when the call started. Undefined: there are none, or it has not started. */
  readonly permission: PermissionDecision | undefined;
  /** How many reports of its progress the log has. */
  readonly progressReports: number;
  /** The questions of the tool to people, each in its latest version. */
  readonly questions: readonly Approval[];
  /** How clients know the call. Undefined: no client executes its tool, or it was not opened yet. */
  readonly clientCall?: ClientCall | undefined;
  /** The latest attempt to generate media for the call. Undefined: there is none yet, or its tool generates none. */
  readonly media?: MediaCall | undefined;
  readonly result: ToolResult | undefined;
  /** Id of the plugin that replaced the arguments of the model. Undefined: none did. */
  readonly rewrittenBy?: string;
  /** The call as the model made it. Undefined: no plugin replaced its arguments. */
  readonly requested?: ToolCall;
}

export const rootId = "";
/** Differs from every id of a subtask: those begin with the id of the run. */
export const plannerId = "planner";

export function newFrame(
  given: Pick<Frame, "id" | "depth" | "subtask" | "tools" | "units"> &
    Partial<Pick<Frame, "delegate" | "workflow">>,
  beganAtWorkedMs = 0,
): Frame {
  const { delegate, workflow } = given;
  const isStart = delegate !== undefined && delegate.frameId === given.id;
  return {
    ...given,
    delegate,
    workflow,
    used: isStart
      ? { spent: emptyLedger, lostUsd: 0, unansweredCalls: 0, beganAtWorkedMs }
      : undefined,
    step: 0,
    answeredStep: 0,
    stepOpen: false,
    stepSequence: 0,
    injected: 0,
    compaction: undefined,
    isCompacted: false,
    hasOverflowed: false,
    measured: undefined,
    counted: undefined,
    scale: 1,
    fallback: 0,
    remote: undefined,
    modelCall: undefined,
    calls: [],
    hasTurn: false,
    turnStreamedFrom: undefined,
    text: "",
    pendingMemory: new Map(),
    outcome: undefined,
  };
}

/** Returns the scope of the events of a frame. */
export function scopeOf({ id, depth, step }: Frame): Scope {
  return id === plannerId
    ? { parentId: "", depth: 0, step: 0, phase: Phase.PLANNER }
    : { parentId: id, depth, step, phase: Phase.EXECUTOR };
}
