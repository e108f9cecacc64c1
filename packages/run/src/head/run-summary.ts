import { ApprovalState } from "@reeve/contracts/approval";
import type { Run, RunEvent } from "@reeve/contracts/run";
import { IncompleteReason, Phase, RunStatus, StepState } from "@reeve/contracts/run";
import { previewOf } from "../tree/preview-of.ts";
import { costAfter } from "./ledger.ts";
import { isTerminal } from "./run-status.ts";
import { runWaitsAfter } from "./waits.ts";

/** Characters of the input that a list shows. */
const previewCharacters = 200;

/**
 * What a list shows of a run: the part of the head that does not need the rest of the log to be continued, so that a stored
 * `Run` is a summary too. Never changed in place.
 */
export type RunSummary = Readonly<
  Pick<
    Run,
    | "runId"
    | "agentId"
    | "status"
    | "inputPreview"
    | "pendingApprovals"
    | "labels"
    | "threadId"
    | "scripted"
    | "createdAt"
    | "endedAt"
    | "error"
    | "cost"
    | "unknownEventSequence"
    | "origin"
    | "incompleteReason"
    | "startedBy"
    | "waitingFor"
    | "spentUsd"
    | "failedSubtasks"
  >
>;

export const emptySummary: RunSummary = {
  runId: "",
  agentId: "",
  status: RunStatus.UNSPECIFIED,
  inputPreview: "",
  pendingApprovals: [],
  labels: {},
  threadId: "",
  scripted: false,
  unknownEventSequence: 0,
  incompleteReason: IncompleteReason.UNSPECIFIED,
  startedBy: "",
  waitingFor: [],
};

/**
 * Applies one event to a summary, or to anything that has one, such as a head or a stored `Run`. Records may follow the end
 * of a run; they do not undo it. An event of a kind that only a newer version knows changes nothing but `unknownEventSequence`.
 */
export function applyToSummary<Summarized extends RunSummary>(
  before: Summarized,
  envelope: RunEvent,
): Summarized {
  const after = withSpent(
    withWaits(withFailures(applied(before, envelope), envelope), envelope),
    envelope,
  );
  if (after === before) return before;
  const status = isTerminal(before.status) ? before.status : after.status;
  // The end of a run withdraws its approvals, and the calls of clients.
  return isTerminal(status) ? { ...after, status, pendingApprovals: [], waitingFor: [] } : after;
}

function withWaits<Summarized extends RunSummary>(before: Summarized, event: RunEvent): Summarized {
  const waitingFor = runWaitsAfter(before.waitingFor, event);
  return waitingFor === before.waitingFor ? before : { ...before, waitingFor: [...waitingFor] };
}

/** A run without a failure is known from its creation. A summary of an earlier version does not count: a part is not known. */
function withFailures<Summarized extends RunSummary>(
  before: Summarized,
  { event }: RunEvent,
): Summarized {
  if (event.case === "runCreated") return { ...before, failedSubtasks: 0 };
  if (event.case !== "subtask" || !event.value.ended || !event.value.isError) return before;
  if (before.failedSubtasks === undefined) return before;
  return { ...before, failedSubtasks: before.failedSubtasks + 1 };
}

/** A run costs nothing when it is created. A summary without a cost stays so: a part of it is not known. */
function withSpent<Summarized extends RunSummary>(before: Summarized, event: RunEvent): Summarized {
  if (event.event.case === "runCreated") return { ...before, spentUsd: 0 };
  const spentUsd = costAfter(before.spentUsd, event);
  if (spentUsd === before.spentUsd) return before;
  const { spentUsd: _, ...rest } = before;
  // Only the optional field was removed.
  return { ...rest, ...(spentUsd !== undefined && { spentUsd }) } as Summarized;
}

function applied<Summarized extends RunSummary>(
  before: Summarized,
  { runId, sequence, event, time, parentId, phase }: RunEvent,
): Summarized {
  switch (event.case) {
    case "runCreated":
      return {
        ...before,
        ...(event.value.origin && { origin: event.value.origin }),
        runId,
        agentId: event.value.agentId,
        inputPreview: previewOf(event.value.input, previewCharacters),
        labels: event.value.labels,
        threadId: event.value.threadId,
        startedBy: event.value.startedBy,
        status: RunStatus.QUEUED,
        ...(time && { createdAt: time }),
      };
    case "runClaimed":
      return before.status === RunStatus.WAITING
        ? { ...before, status: RunStatus.RUNNING }
        : before;
    case "runParked":
      return { ...before, status: RunStatus.WAITING };
    case "runPrepared":
      return { ...before, scripted: event.value.scripted };
    case "status": {
      const { status, incompleteReason } = event.value;
      return {
        ...before,
        status,
        incompleteReason,
        ...(isTerminal(status) && time && { endedAt: time }),
      };
    }
    case "step":
      return event.value.state === StepState.STARTED && before.status !== RunStatus.RUNNING
        ? { ...before, status: RunStatus.RUNNING }
        : before;
    case "approval": {
      const { approvalId = "", state } = event.value.approval ?? {};
      const others = before.pendingApprovals.filter((id) => id !== approvalId);
      const isPending = state === ApprovalState.PENDING;
      return { ...before, pendingApprovals: isPending ? [...others, approvalId] : others };
    }
    case "costSummary":
      return { ...before, cost: event.value };
    case "error":
      // A failed plan or subtask does not end the run.
      return parentId === "" && phase !== Phase.PLANNER
        ? { ...before, error: event.value }
        : before;
    case "text":
    case "reasoning":
    case "textVoided":
    case "toolCall":
    case "toolCallStarted":
    case "toolResult":
    case "mcpProgress":
    case "subtask":
    case "plan":
    case "context":
    case "usage":
    case "modelCallStarted":
    case "modelTurn":
    case "modelCallFailed":
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
    case "pluginHookFinished":
    case "runEnding":
    case "messageSubmitted":
    case "messageInjected":
    case "memoryWritten":
    case "todosChanged":
    case "cancelRequested":
    case "budgetExceeded":
    case "treeStored":
      return before;
    case undefined:
      return before.unknownEventSequence > 0
        ? before
        : { ...before, unknownEventSequence: sequence };
  }
}
