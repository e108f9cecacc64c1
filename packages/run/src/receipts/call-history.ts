import { create } from "@bufbuild/protobuf";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalSchema } from "@reeve/contracts/approval";
import type { CallStart, CastDecision } from "@reeve/contracts/receipt";
import { CallStartSchema } from "@reeve/contracts/receipt";
import type {
  PluginHookFinished,
  RunCreated,
  RunEvent,
  RunPrepared,
  RunStatus,
  ToolResultEvent,
} from "@reeve/contracts/run";
import { ToolCallSchema } from "@reeve/contracts/tool";
import { ToolResultEventSchema } from "@reeve/contracts/run";
import type { ToolCall } from "@reeve/contracts/tool";
import { isTerminal } from "../head/run-status.ts";
import { newerVersion } from "../head/newer-version.ts";
import { castDecisions } from "./cast-decisions.ts";
import { hasUnknownFields } from "./has-unknown-fields.ts";

/** What the log of a run says about one of its calls, up to the result of the call. Never changed in place. */
export interface CallHistory {
  readonly callId: string;
  readonly created: RunCreated | undefined;
  /** The time at which the run was accepted. */
  readonly createdAt: RunEvent["time"];
  readonly prepared: RunPrepared | undefined;
  /** The subjects of those who sent messages to the run, without repetitions. */
  readonly senders: ReadonlySet<string>;
  /** The call as the model made it, and where. */
  readonly requested: { readonly call: ToolCall; readonly parentId: string } | undefined;
  /** The latest version of each approval of the call, in the order of the requests. */
  readonly approvals: ReadonlyMap<string, Approval>;
  readonly decisions: readonly CastDecision[];
  readonly starts: readonly CallStart[];
  readonly result: { readonly event: RunEvent; readonly value: ToolResultEvent } | undefined;
  /** The end of the run, if the call has no result before it. */
  readonly end: { readonly event: RunEvent; readonly status: RunStatus } | undefined;
  /** Ids of the first calls of the run that have an approval, for a caller who names another one. */
  readonly callsWithApproval: readonly string[];
}

export function emptyHistory(callId: string): CallHistory {
  return {
    callId,
    created: undefined,
    createdAt: undefined,
    prepared: undefined,
    senders: new Set(),
    requested: undefined,
    approvals: new Map(),
    decisions: [],
    starts: [],
    result: undefined,
    end: undefined,
    callsWithApproval: [],
  };
}

/** How many calls an error names. */
const maxNamed = 5;

/** Whether the history is complete: the call, or the run, has ended. */
export function isClosed({ result, end }: CallHistory): boolean {
  return result !== undefined || end !== undefined;
}

/**
 * Returns the history after an event. Events after the result, or after the end of the run, change nothing, so that every longer log gives the same history. Throws a
 * Failure for what a newer version wrote: it may be what counts.
 */
export function historyAfter(history: CallHistory, event: RunEvent): CallHistory {
  if (isClosed(history)) return history;
  const { callId } = history;
  const { event: fact } = event;
  switch (fact.case) {
    case "runCreated":
      return { ...history, created: fact.value, createdAt: event.time };
    case "runPrepared":
      return { ...history, prepared: fact.value };
    case "messageSubmitted":
      return fact.value.submittedBy === "" || history.senders.has(fact.value.submittedBy)
        ? history
        : { ...history, senders: new Set(history.senders).add(fact.value.submittedBy) };
    case "toolCall":
      if (fact.value.callId !== callId) return history;
      return { ...history, requested: { call: fact.value, parentId: event.parentId } };
    case "approval":
      return withApproval(history, event, fact.value.approval);
    case "toolCallStarted":
      if (fact.value.callId !== callId) return history;
      return { ...history, starts: [...history.starts, startOf(history, event)] };
    case "toolResult": {
      if (fact.value.result?.callId !== callId) return history;
      if (hasUnknownFields(ToolResultEventSchema, fact.value))
        throw newerVersion(event.runId, event.sequence);
      return { ...history, result: { event, value: fact.value } };
    }
    case "pluginHookFinished":
      return fact.value.callId === callId ? withRewrite(history, fact.value) : history;
    case "subtask":
      if (fact.value.callId !== callId || fact.value.ended) return history;
      return { ...history, starts: [...history.starts, startOf(history, event)] };
    case undefined:
      throw newerVersion(event.runId, event.sequence);
    case "status":
      return isTerminal(fact.value.status)
        ? { ...history, end: { event, status: fact.value.status } }
        : history;
    case "text":
    case "reasoning":
    case "mcpProgress":
    case "usage":
    case "step":
    case "context":
    case "messageInjected":
    case "plan":
    case "budgetExceeded":
    case "costSummary":
    case "error":
    case "textVoided":
    case "runClaimed":
    case "runParked":
    case "modelCallStarted":
    case "modelTurn":
    case "modelCallFailed":
    case "cancelRequested":
    case "memoryWritten":
    case "todosChanged":
    case "treeStored":
    case "modelRetryDue":
    case "tokensCounted":
    case "clientCall":
    case "pluginsPinned":
    case "workflowPrepared":
    case "mediaPrepared":
    case "workflowContinued":
    case "mediaCallStarted":
    case "mediaCallEnded":
    case "remoteTask":
    case "runEnding":
      return history;
  }
}

/** A part of the ids of hooks that decide on replaced arguments. No id of a plugin has a colon. */
const laterRound = /:round-\d+:/;

/** The arguments of a plugin are those on which people decide, and with which the call is executed. A second replacement is refused. */
function withRewrite(history: CallHistory, { answer, hookId }: PluginHookFinished): CallHistory {
  const { requested } = history;
  const isFirst = !laterRound.test(hookId);
  if (answer?.verdict.case !== "rewrite" || requested === undefined || !isFirst) return history;
  const call = create(ToolCallSchema, {
    ...requested.call,
    arguments: answer.verdict.value.arguments ?? {},
  });
  return { ...history, requested: { ...requested, call } };
}

function withApproval(
  history: CallHistory,
  event: RunEvent,
  approval: Approval | undefined,
): CallHistory {
  const callId = approval?.call?.callId;
  if (approval === undefined || callId === undefined) return history;
  const named = history.callsWithApproval;
  const isNamed = named.length >= maxNamed || named.includes(callId);
  const callsWithApproval = isNamed ? named : [...named, callId];
  if (callId !== history.callId) return { ...history, callsWithApproval };
  if (hasUnknownFields(ApprovalSchema, approval)) throw newerVersion(event.runId, event.sequence);
  const before = history.approvals.get(approval.approvalId);
  return {
    ...history,
    callsWithApproval,
    approvals: new Map(history.approvals).set(approval.approvalId, approval),
    decisions: [...history.decisions, ...castDecisions(before, approval, event)],
  };
}

function startOf(history: CallHistory, { sequence, time, event }: RunEvent): CallStart {
  const permission = event.case === "toolCallStarted" ? event.value.permission : undefined;
  return create(CallStartSchema, {
    sequence,
    approvalId: gateOf(history)?.approvalId ?? "",
    ...(time && { startedAt: time }),
    ...(permission && { permission }),
  });
}

/** Returns the latest approval of the call itself. Undefined: it needed none, or only its questions have approvals. */
export function gateOf({ approvals }: Pick<CallHistory, "approvals">): Approval | undefined {
  return [...approvals.values()].findLast(({ question }) => question === undefined);
}

/** The history of a call that a person, or a grant, decided on, and that has ended, or whose run has. */
export interface EndedCall extends CallHistory {
  readonly created: RunCreated;
  readonly requested: NonNullable<CallHistory["requested"]>;
}
