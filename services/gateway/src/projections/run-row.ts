import { clone, create } from "@bufbuild/protobuf";
import { ApprovalState } from "@reeve/contracts/approval";
import { previewOf } from "@reeve/run/tree/execution-tree";
import type { Run, RunEvent } from "@reeve/contracts/run";
import { Phase, RunSchema, RunStatus, StepState } from "@reeve/contracts/run";
import type { RunHead } from "@reeve/run/head/run-head";
import { isTerminal, runOf } from "@reeve/run/head/run-head";
import type { RunEventKind } from "@reeve/jetstream/feed/run-feed";

/** The kinds of events that change what a list of runs shows. A step does too, and is told by the batches around it. */
export const rowKinds: ReadonlySet<RunEventKind> = new Set<RunEventKind>([
  "runCreated",
  "runClaimed",
  "runPrepared",
  "runParked",
  "status",
  "approval",
  "costSummary",
  "error",
]);

/** What a list shows of a run: everything but its output. */
export function rowOf(head: RunHead): Run {
  return create(RunSchema, { ...runOf(head), output: "" });
}

/** The row after one more event. As with the run's head, records may follow its end and do not undo it. */
export function rowAfter(before: Run, envelope: RunEvent): Run {
  const row = clone(RunSchema, before);
  apply(row, envelope);
  row.lastSequence = envelope.sequence;
  if (isTerminal(before.status)) row.status = before.status;
  if (isTerminal(row.status)) row.pendingApprovals = [];
  return row;
}

function apply(row: Run, { runId, event, time, parentId, phase }: RunEvent): void {
  switch (event.case) {
    case "runCreated":
      row.runId = runId;
      row.agentId = event.value.agentId;
      row.inputPreview = previewOf(event.value.input, 200);
      row.labels = { ...event.value.labels };
      row.threadId = event.value.threadId;
      row.status = RunStatus.QUEUED;
      if (time !== undefined) row.createdAt = time;
      break;
    case "runClaimed":
      if (row.status === RunStatus.WAITING) row.status = RunStatus.RUNNING;
      break;
    case "runParked":
      row.status = RunStatus.WAITING;
      break;
    case "runPrepared":
      row.scripted = event.value.scripted;
      break;
    case "status":
      row.status = event.value.status;
      if (isTerminal(event.value.status) && time !== undefined) row.endedAt = time;
      break;
    case "step":
      if (event.value.state === StepState.STARTED) row.status = RunStatus.RUNNING;
      break;
    case "approval": {
      const { approvalId = "", state } = event.value.approval ?? {};
      row.pendingApprovals = row.pendingApprovals.filter((id) => id !== approvalId);
      if (state === ApprovalState.PENDING) row.pendingApprovals.push(approvalId);
      break;
    }
    case "costSummary":
      row.cost = event.value;
      break;
    case "error":
      // A plan that failed, or a subtask, ends nothing.
      if (parentId === "" && phase !== Phase.PLANNER) row.error = event.value;
      break;
    default:
      break;
  }
}
