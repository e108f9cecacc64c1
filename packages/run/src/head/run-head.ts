import type { Approval } from "@reeve/contracts/approval";
import { ApprovalState } from "@reeve/contracts/approval";
import type { MessageSubmitted, RunCreated, RunEvent, RunPrepared } from "@reeve/contracts/run";
import type { ContentPart } from "@reeve/contracts/content/parts";
import type { TreeChanges } from "../tree/execution-tree.ts";
import { treeAfter } from "../tree/execution-tree.ts";
import type { Generations } from "../media/generations.ts";
import { noGenerations, withGeneration, withoutGeneration } from "../media/generations.ts";
import type { ClientCalls } from "./client-calls.ts";
import { clientCallsAfter, noClientCalls } from "./client-calls.ts";
import type { Ledger } from "./ledger.ts";
import { charge, emptyLedger } from "./ledger.ts";
import type { Linked } from "./linked.ts";
import type { ModelWaits } from "./model-waits.ts";
import { waitsAfter } from "./model-waits.ts";
import { findNewest, linked, oldestFirst } from "./linked.ts";
import type { Ownership } from "./ownership.ts";
import { applyToOwnership, noOwnership } from "./ownership.ts";
import { isTerminal } from "./run-status.ts";
import type { RunAnswer } from "./run-answer.ts";
import { applyToAnswer, noAnswer } from "./run-answer.ts";
import type { RunSummary } from "./run-summary.ts";
import { applyToSummary, emptySummary } from "./run-summary.ts";

/**
 * What the log of a run says, without the state of its loop: all that clients and other services need, and what the engine
 * builds its own state on. Never changed in place.
 */
export interface RunHead extends RunSummary, Ownership, RunAnswer {
  /** Undefined: there is no such run. */
  readonly created: RunCreated | undefined;
  /** The model and the tools of the run, once a worker has resolved them. */
  readonly prepared: RunPrepared | undefined;
  /** Every version of every approval, newest first. */
  readonly approvals: Linked<Approval> | undefined;
  /** The steps of the plan; none without a plan. */
  readonly plan: readonly string[];
  /** The failed model calls that wait for their next attempt. */
  readonly modelWaits: ModelWaits;
  /** The generations of media that have no end. */
  readonly generations: Generations;
  /** What the run has used so far. */
  readonly spent: Ledger;
  /** What the run has done so far. */
  readonly tree: TreeChanges;
  /** Ids of the calls that were handed out to toolhosts and have no result. */
  readonly outstandingCalls: ReadonlySet<string>;
  /** The calls of tools that clients execute, by call id. */
  readonly clientCalls: ClientCalls;
  /** The messages that were submitted to the run, newest first. */
  readonly messages: Linked<SubmittedMessage> | undefined;
  /** The messages that no step has taken up, by id, oldest first. */
  readonly pendingMessages: ReadonlyMap<string, MessageSubmitted>;
}

/** A message that was submitted to the run. */
export interface SubmittedMessage {
  readonly messageId: string;
  readonly text: string;
  readonly parts: readonly ContentPart[];
  readonly sequence: number;
  /** Subject of the credential that sent the message. */
  readonly submittedBy: string;
}

export const emptyHead: RunHead = {
  ...emptySummary,
  ...noOwnership,
  ...noAnswer,
  created: undefined,
  prepared: undefined,
  approvals: undefined,
  plan: [],
  modelWaits: new Map(),
  generations: noGenerations,
  spent: emptyLedger,
  tree: undefined,
  outstandingCalls: new Set(),
  clientCalls: noClientCalls,
  messages: undefined,
  pendingMessages: new Map(),
};

/**
 * Returns the head after `events`. An event of a kind that only a newer version knows changes nothing but
 * `unknownEventSequence`, so that every version can show and cancel the run. Code that decides anything else refuses such
 * a head.
 */
export function foldHead(head: RunHead, events: readonly RunEvent[]): RunHead {
  return events.reduce(applyToHead, head);
}

/** Returns the head after one more event, as `foldHead` does. */
export function applyToHead(before: RunHead, envelope: RunEvent): RunHead {
  const { event, sequence } = envelope;
  const head: RunHead = {
    ...applyToAnswer(applyToSummary(applyToOwnership(before, envelope), envelope), envelope),
    clientCalls: clientCallsAfter(before.clientCalls, envelope),
    modelWaits: waitsAfter(before.modelWaits, envelope),
    spent: charge(before.spent, envelope),
    tree: treeAfter(before.tree, envelope),
  };
  switch (event.case) {
    case "runCreated":
      return { ...head, created: event.value, plan: event.value.inherited?.plan ?? [] };
    case "runPrepared":
      return { ...head, prepared: event.value };
    case "approval": {
      const { approval } = event.value;
      return approval === undefined
        ? head
        : {
            ...head,
            approvals: linked(head.approvals, approval),
            // Its call was handed out, but not made.
            ...(approval.state === ApprovalState.SUPERSEDED && {
              outstandingCalls: withoutCall(head, approval.call?.callId),
            }),
          };
    }
    case "messageSubmitted":
      return withMessage(head, event.value, sequence);
    case "messageInjected":
      return {
        ...head,
        pendingMessages: without(head.pendingMessages, event.value.messageId),
      };
    case "plan":
      return { ...head, plan: event.value.steps };
    case "clientCall":
      // No toolhost has it.
      return { ...head, outstandingCalls: withoutCall(head, event.value.callId) };
    case "toolCallStarted":
      return { ...head, outstandingCalls: new Set(head.outstandingCalls).add(event.value.callId) };
    case "toolResult": {
      const callId = event.value.result?.callId;
      const generations = withoutGeneration(head.generations, callId);
      return { ...head, generations, outstandingCalls: withoutCall(head, callId) };
    }
    case "mediaCallStarted":
      return { ...head, generations: withGeneration(head.generations, event.value) };
    case "mediaCallEnded":
      return { ...head, generations: withoutGeneration(head.generations, event.value.callId) };
    case "runClaimed":
    case "runParked":
    case "status":
    case "step":
    case "text":
    case "textVoided":
    case "reasoning":
    case "modelTurn":
    case "toolCall":
    case "mcpProgress":
    case "subtask":
    case "context":
    case "usage":
    case "modelCallStarted":
    case "modelCallFailed":
    case "modelRetryDue":
    case "tokensCounted":
    case "pluginsPinned":
    case "workflowPrepared":
    case "mediaPrepared":
    case "workflowContinued":
    case "remoteTask":
    case "pluginHookFinished":
    case "runEnding":
    case "memoryWritten":
    case "todosChanged":
    case "cancelRequested":
    case "budgetExceeded":
    case "error":
    case "costSummary":
    case "treeStored":
    case undefined:
      return head;
  }
}

function withMessage(head: RunHead, submitted: MessageSubmitted, sequence: number): RunHead {
  const { messageId, message, submittedBy } = submitted;
  const { text = "", parts = [] } = message ?? {};
  return {
    ...head,
    messages: linked(head.messages, { messageId, text, parts, sequence, submittedBy }),
    pendingMessages: new Map(head.pendingMessages).set(messageId, submitted),
  };
}

function without(
  pending: RunHead["pendingMessages"],
  messageId: string,
): RunHead["pendingMessages"] {
  const others = new Map(pending);
  others.delete(messageId);
  return others;
}

function withoutCall({ outstandingCalls }: RunHead, callId = ""): RunHead["outstandingCalls"] {
  if (!outstandingCalls.has(callId)) return outstandingCalls;
  const others = new Set(outstandingCalls);
  others.delete(callId);
  return others;
}

/** Returns the message that was submitted to the run under this id. */
export function messageOf({ messages }: RunHead, messageId: string): SubmittedMessage | undefined {
  return findNewest(messages, (message) => message.messageId === messageId);
}

/** Returns the latest version of the approval with this id. */
export function approvalOf({ approvals }: RunHead, approvalId: string): Approval | undefined {
  return findNewest(approvals, (approval) => approval.approvalId === approvalId);
}

/** Returns the latest version of each approval, in the order in which they were requested. */
export function approvalsOf({ approvals }: RunHead): readonly Approval[] {
  const latest = new Map(
    oldestFirst(approvals).map((approval) => [approval.approvalId, approval] as const),
  );
  return [...latest.values()];
}

/** Returns the approvals without a decision. None once the run ended: its end withdraws them. */
export function pendingApprovals(head: RunHead): readonly Approval[] {
  if (isTerminal(head.status)) return [];
  return approvalsOf(head).filter(({ state }) => state === ApprovalState.PENDING);
}
