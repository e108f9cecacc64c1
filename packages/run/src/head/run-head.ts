import { create } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalState } from "@reeve/contracts/approval";
import { ErrorReason } from "@reeve/contracts/error";
import type {
  CostSummary,
  MessageSubmitted,
  Run,
  RunClaimed,
  RunCreated,
  RunError,
  RunEvent,
  RunPrepared,
} from "@reeve/contracts/run";
import { Phase, RunSchema, RunStatus, StepState } from "@reeve/contracts/run";
import { Failure } from "@reeve/platform/failure";
import type { TreeNodes } from "../tree/execution-tree.ts";
import { previewOf, treeAfter } from "../tree/execution-tree.ts";
import { noSpending, spentAfter } from "./spending.ts";

/** What anybody but its worker needs to know of a run. Never changed in place. */
export interface RunHead {
  /** Undefined: there is no such run. */
  readonly created: RunCreated | undefined;
  readonly createdAt: Timestamp | undefined;
  readonly runId: string;
  readonly status: RunStatus;
  readonly lastSequence: number;
  /** Sequence at which the run was parked; undefined while it has an owner, or had none yet. */
  readonly parkedAt: number | undefined;
  readonly claim: RunClaimed | undefined;
  /** The model and the tools of the run, once a worker has resolved them. */
  readonly prepared: RunPrepared | undefined;
  /** The approvals by id, each as it stands. */
  readonly approvals: ReadonlyMap<string, Approval>;
  /** The text at the root, last part first. */
  readonly output: TextPart | undefined;
  readonly error: RunError | undefined;
  /** What it cost, once it ended. */
  readonly cost: CostSummary | undefined;
  /** What it has cost up to now. */
  readonly spent: CostSummary;
  readonly endedAt: Timestamp | undefined;
  /** Sequence of the terminal status; only records follow it. */
  readonly endSequence: number | undefined;
  /** What it did up to now. */
  readonly tree: TreeNodes;
  /** Ids of the calls that were handed out and have no result. */
  readonly outstandingCalls: ReadonlySet<string>;
  /** The messages that were sent into the run, last one first. */
  readonly messages: SentMessage | undefined;
  /** Bytes of the messages that no step has taken up, by id. */
  readonly pendingMessages: ReadonlyMap<string, number>;
}

/** A message that was sent into a run. */
export interface SentMessage {
  readonly messageId: string;
  readonly text: string;
  readonly sequence: number;
  readonly before: SentMessage | undefined;
}

interface TextPart {
  readonly step: number;
  readonly sequence: number;
  readonly text: string;
  readonly before: TextPart | undefined;
}

export const emptyHead: RunHead = {
  created: undefined,
  createdAt: undefined,
  runId: "",
  status: RunStatus.UNSPECIFIED,
  lastSequence: 0,
  parkedAt: undefined,
  claim: undefined,
  prepared: undefined,
  approvals: new Map(),
  output: undefined,
  error: undefined,
  cost: undefined,
  spent: noSpending,
  endedAt: undefined,
  endSequence: undefined,
  tree: new Map(),
  outstandingCalls: new Set(),
  messages: undefined,
  pendingMessages: new Map(),
};

const terminal: ReadonlySet<RunStatus> = new Set([
  RunStatus.COMPLETED,
  RunStatus.ERROR,
  RunStatus.CANCELLED,
]);

/** Whether the status is one after which nothing follows. */
export function isTerminal(status: RunStatus): boolean {
  return terminal.has(status);
}

/** The head after `events`. Throws a Failure when a newer version wrote one of them. */
export function foldHead(head: RunHead, events: readonly RunEvent[]): RunHead {
  return events.reduce((before, event) => {
    const after = applyToHead(before, event);
    // Records may follow the end; they do not undo it.
    return isTerminal(before.status) ? { ...after, status: before.status } : after;
  }, head);
}

function applyToHead(head: RunHead, envelope: RunEvent): RunHead {
  const { event, sequence, time } = envelope;
  const next = {
    ...head,
    lastSequence: sequence,
    spent: spentAfter(head.spent, envelope),
    tree: treeAfter(head.tree, envelope),
  };
  switch (event.case) {
    case "runCreated":
      return {
        ...next,
        created: event.value,
        createdAt: time,
        runId: envelope.runId,
        status: RunStatus.QUEUED,
      };
    case "runClaimed":
      return {
        ...next,
        claim: event.value,
        parkedAt: undefined,
        status: head.status === RunStatus.WAITING ? RunStatus.RUNNING : head.status,
      };
    case "runParked":
      return { ...next, parkedAt: sequence, status: RunStatus.WAITING };
    case "runPrepared":
      return { ...next, prepared: event.value };
    case "status":
      return isTerminal(event.value.status)
        ? { ...next, status: event.value.status, endedAt: time, endSequence: sequence }
        : { ...next, status: event.value.status };
    case "step":
      return event.value.state === StepState.STARTED
        ? { ...next, status: RunStatus.RUNNING }
        : next;
    case "text":
      return { ...next, output: withText(head.output, envelope, event.value.text) };
    case "textVoided":
      return { ...next, output: withoutText(head.output, envelope, event.value.firstSequence) };
    case "approval": {
      const { approval } = event.value;
      if (approval === undefined) return next;
      return { ...next, approvals: new Map(head.approvals).set(approval.approvalId, approval) };
    }
    case "messageSubmitted": {
      const { messageId, message } = event.value;
      const pendingMessages = new Map(head.pendingMessages).set(
        messageId,
        Buffer.byteLength(message?.text ?? ""),
      );
      return {
        ...next,
        pendingMessages,
        messages: withMessage(head.messages, event.value, sequence),
      };
    }
    case "messageInjected": {
      const pendingMessages = new Map(head.pendingMessages);
      pendingMessages.delete(event.value.messageId);
      return { ...next, pendingMessages };
    }
    case "error":
      return envelope.parentId === "" && envelope.phase !== Phase.PLANNER
        ? { ...next, error: event.value }
        : next;
    case "costSummary":
      return { ...next, cost: event.value };
    case "toolCallStarted":
      return { ...next, outstandingCalls: new Set(head.outstandingCalls).add(event.value.callId) };
    case "toolResult":
      return {
        ...next,
        outstandingCalls: without(head.outstandingCalls, event.value.result?.callId),
      };
    case "reasoning":
    case "toolCall":
    case "mcpProgress":
    case "usage":
    case "context":
    case "plan":
    case "subtask":
    case "budgetExceeded":
    case "modelCallStarted":
    case "modelTurn":
    case "modelCallFailed":
    case "cancelRequested":
    case "memoryWritten":
    case "todosChanged":
    case "treeStored":
    case "modelRetryDue":
      return next;
    case undefined:
      throw new Failure(
        "internal",
        ErrorReason.INTERNAL,
        `event ${sequence} of run ${envelope.runId} was written by a newer version; upgrade this service`,
      );
  }
}

function withText(
  output: TextPart | undefined,
  { parentId, phase, stepNumber, sequence }: RunEvent,
  text: string,
): TextPart | undefined {
  return parentId === "" && phase !== Phase.PLANNER
    ? { step: stepNumber, sequence, text, before: output }
    : output;
}

function withoutText(
  output: TextPart | undefined,
  { parentId, phase }: RunEvent,
  firstSequence: number,
): TextPart | undefined {
  if (parentId !== "" || phase === Phase.PLANNER) return output;
  let kept = output;
  while (kept !== undefined && kept.sequence >= firstSequence) {
    kept = kept.before;
  }
  return kept;
}

function without(calls: ReadonlySet<string>, callId = ""): ReadonlySet<string> {
  if (!calls.has(callId)) return calls;
  const left = new Set(calls);
  left.delete(callId);
  return left;
}

function withMessage(
  before: SentMessage | undefined,
  { messageId, message }: MessageSubmitted,
  sequence: number,
): SentMessage {
  return { messageId, text: message?.text ?? "", sequence, before };
}

/** The message that was sent into the run under this id. */
export function messageOf({ messages }: RunHead, messageId: string): SentMessage | undefined {
  let sent = messages;
  while (sent !== undefined && sent.messageId !== messageId) sent = sent.before;
  return sent;
}

/** What the run answers: the text of the last step at the root that has any. */
export function outputOf({ output }: RunHead): string {
  const parts: string[] = [];
  for (let part = output; part !== undefined && part.step === output?.step; part = part.before) {
    parts.push(part.text);
  }
  return parts.toReversed().join("");
}

/** The approvals that nobody has decided. None once the run ended: they are withdrawn with it. */
export function pendingApprovals({ approvals, status }: RunHead): readonly Approval[] {
  if (isTerminal(status)) return [];
  return [...approvals.values()].filter(({ state }) => state === ApprovalState.PENDING);
}

/** The run as clients see it. Throws when the head is of no run. */
export function runOf(head: RunHead): Run {
  const { created, createdAt, endedAt, error, cost } = head;
  if (created === undefined) throw new Error("there is no run to show");
  return create(RunSchema, {
    runId: head.runId,
    agentId: created.agentId,
    status: head.status,
    lastSequence: head.lastSequence,
    output: outputOf(head),
    inputPreview: previewOf(created.input, 200),
    pendingApprovals: pendingApprovals(head).map(({ approvalId }) => approvalId),
    labels: created.labels,
    threadId: created.threadId,
    scripted: head.prepared?.scripted ?? false,
    ...(createdAt && { createdAt }),
    ...(endedAt && { endedAt }),
    ...(error && { error }),
    ...(cost && { cost }),
  });
}
