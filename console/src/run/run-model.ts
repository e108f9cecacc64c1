import type { AgentSpec } from "@reeve/contracts/agent";
import type { Approval } from "@reeve/contracts/approval";
import type {
  ChatContext,
  CostSummary,
  RunEvent,
  RunError,
  RunPrepared,
  Todo,
} from "@reeve/contracts/run";
import { RunStatus } from "@reeve/contracts/run";
import type { ContentPart } from "@reeve/contracts/content/parts";
import type { ToolCall, ToolProgress, WorkspaceFile } from "@reeve/contracts/tool";
import type { ToolResultEvent } from "@reeve/contracts/run";

/**
 * What all views of a run show: a fold of its events. The fold changes it in place, because a run may have 100,000 events; every
 * part that changed has a new `version`, and so have the parts that contain it.
 */
export interface RunModel {
  readonly runId: string;
  readonly events: RunEvent[];
  version: number;
  agentId: string;
  agentRevision: number;
  threadId: string;
  startedBy: string;
  input: string;
  /** Id of the trace of the run. Empty if it is not traced. */
  traceId: string;
  /** Files that the workspace began with. */
  files: readonly WorkspaceFile[];
  startedAtMs: number | undefined;
  endedAtMs: number | undefined;
  status: RunStatus;
  statusMessage: string;
  error: RunError | undefined;
  cost: CostSummary | undefined;
  readonly usage: UsageTotals;
  prepared: RunPrepared | undefined;
  /** Spec of the agent at the revision of the run. */
  spec: AgentSpec | undefined;
  /** Specs of the agents that the run can call, by id. */
  readonly delegates: Map<string, AgentSpec>;
  /** Where the conversation takes place. Undefined: in a thread. */
  chatContext: ChatContext | undefined;
  plan: readonly string[];
  todos: readonly Todo[];
  readonly root: Frame;
  readonly frames: Map<string, Frame>;
  readonly calls: Map<string, CallItem>;
  readonly approvals: Map<string, Approval>;
  /** Calls of clients' tools that wait for an answer, by id. */
  readonly clientWaits: Map<string, ClientWait>;
  /** Messages that the run has not taken up yet, by id. */
  readonly waiting: Map<string, WaitingMessage>;
  /** Name of the worker that claimed the run last. Empty: none has. */
  worker: string;
  /** Model calls whose worker was lost. */
  readonly lost: LostCalls;
  readonly spans: Span[];
  /** The spans that have not ended, by key. */
  readonly openSpans: Map<string, Span>;
}

/** Model calls without an answer. Nobody knows what their providers bill. */
interface LostCalls {
  calls: number;
  /** What was reserved for them, in US dollars. 0: nothing was, as without a budget. */
  reservedUsd: number;
}

/** A call that waits for the answer of a client. */
export interface ClientWait {
  readonly callId: string;
  readonly name: string;
  readonly answeredByPerson: boolean;
  /** The client that took it. Empty: none has. */
  readonly clientId: string;
  /** Until when it can be answered. Undefined: without limit. */
  readonly untilMs: number | undefined;
}

interface WaitingMessage {
  readonly sequence: number;
  readonly text: string;
  readonly by: string;
}

interface UsageTotals {
  modelCalls: number;
  inputTokens: number;
  outputTokens: number;
  costUsd: number;
}

/** The root, the planner, or a subtask: a conversation of its own. */
export interface Frame {
  readonly id: string;
  readonly depth: number;
  readonly kind: "root" | "planner" | "subtask";
  readonly parent: Frame | undefined;
  version: number;
  title: string;
  readonly items: Item[];
  startedAtMs: number | undefined;
  endedAtMs: number | undefined;
  state: "running" | "done" | "failed";
  /** Sequence of the event that ended it. 0: none has. */
  endSequence: number;
  message: string;
  resultPreview: string;
  /** With the parts of the frame. */
  costUsd: number;
  /** Cost of its own model calls. */
  ownUsd: number;
  /** Id of the delegate that works on it. Empty: the agent of the frame that contains it. */
  agentId: string;
}

export type Item = UserItem | TextItem | CallItem | NoteItem | FrameItem;

interface Versioned {
  readonly key: string;
  version: number;
}

interface UserItem extends Versioned {
  readonly kind: "user";
  readonly text: string;
  /** Parts after the text. */
  readonly content: readonly ContentPart[];
  readonly by: string;
}

/** Text or reasoning of one answer of the model. */
export interface TextItem extends Versioned {
  readonly kind: "text" | "reasoning";
  readonly step: number;
  parts: { readonly sequence: number; readonly text: string }[];
  text: string;
}

export interface CallItem extends Versioned {
  readonly kind: "call";
  readonly call: ToolCall;
  readonly frame: Frame;
  readonly calledAtMs: number | undefined;
  /** Sequence of the event with which it began. */
  readonly sequence: number;
  progress: ToolProgress | undefined;
  result: ToolResultEvent | undefined;
  /** Sequence of its result. 0: it has none. */
  endSequence: number;
  approvalId: string;
  readonly subtasks: Frame[];
}

/** Something that happened beside the conversation. */
export interface NoteItem extends Versioned {
  readonly kind: "note";
  readonly tone: "info" | "warn" | "bad";
  readonly text: string;
  readonly timeMs: number | undefined;
  /** More to read on request. */
  readonly detail: string;
}

/** The planner, as part of the root. */
interface FrameItem extends Versioned {
  readonly kind: "frame";
  readonly frame: Frame;
}

type SpanKind = "model" | "tool" | "approval" | "client" | "subtask";

/** Work, or a wait, with a start and an end. */
export interface Span {
  readonly key: string;
  readonly kind: SpanKind | "claim" | "hook";
  readonly label: string;
  readonly depth: number;
  /** Id of the frame in which it occurred. Empty: the root, or the planner. */
  readonly frameId: string;
  readonly attempt: number;
  readonly startMs: number;
  endMs: number | undefined;
  failed: boolean;
  detail: string;
  costUsd: number;
  /** What it may cost at most, as it was reserved. 0: unknown. */
  readonly reservedUsd: number;
}

export function emptyRun(runId: string): RunModel {
  const root = newFrame({ id: "", depth: 0, kind: "root", parent: undefined });
  return {
    runId,
    events: [],
    version: 0,
    agentId: "",
    agentRevision: 0,
    threadId: "",
    startedBy: "",
    input: "",
    traceId: "",
    files: [],
    startedAtMs: undefined,
    endedAtMs: undefined,
    status: RunStatus.UNSPECIFIED,
    statusMessage: "",
    error: undefined,
    cost: undefined,
    usage: { modelCalls: 0, inputTokens: 0, outputTokens: 0, costUsd: 0 },
    prepared: undefined,
    spec: undefined,
    delegates: new Map(),
    chatContext: undefined,
    plan: [],
    todos: [],
    root,
    frames: new Map([["", root]]),
    calls: new Map(),
    approvals: new Map(),
    clientWaits: new Map(),
    waiting: new Map(),
    worker: "",
    lost: { calls: 0, reservedUsd: 0 },
    spans: [],
    openSpans: new Map(),
  };
}

export function newFrame(parts: Pick<Frame, "id" | "depth" | "kind" | "parent">): Frame {
  return {
    ...parts,
    version: 0,
    title: "",
    items: [],
    startedAtMs: undefined,
    endedAtMs: undefined,
    state: "running",
    endSequence: 0,
    message: "",
    resultPreview: "",
    costUsd: 0,
    ownUsd: 0,
    agentId: "",
  };
}
