import { clone, create } from "@bufbuild/protobuf";
import { bucketOf } from "@reeve/contracts/channel";
import type { Run, RunEvent } from "@reeve/contracts/run";
import { RunSchema, RunStatus, StepState } from "@reeve/contracts/run";
import { ApprovalState } from "@reeve/contracts/approval";
import type { FedBatch, RunEventKind, RunFeed } from "@reeve/log/run-feed";
import type { Logger } from "@reeve/platform/logger";
import { isTerminal } from "@reeve/log/run-head";
import type { Table } from "@reeve/store/table";

/** The kinds of events that change what a list of runs shows. */
const kinds: ReadonlySet<RunEventKind> = new Set<RunEventKind>([
  "runCreated",
  "runClaimed",
  "runPrepared",
  "runParked",
  "status",
  "approval",
  "costSummary",
  "error",
]);

const { key: runKey } = bucketOf(RunSchema);
const mostAttempts = 20;

/**
 * Keeps the index of runs: a projection of their logs, which can be thrown away and made again. Several gateways share the
 * work; a batch that was seen before changes nothing.
 */
export async function indexRuns(
  feed: RunFeed,
  runs: Table<Run>,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  for await (const batch of feed.consume("run-index", kinds, signal)) {
    try {
      await indexBatch(runs, batch, signal);
      batch.acknowledge();
    } catch (error) {
      if (signal.aborted) return;
      // Not acknowledged: it comes again.
      log.warn({ err: error, runId: batch.key.run }, "run could not be indexed; trying again");
    }
  }
}

async function indexBatch(
  runs: Table<Run>,
  { key, events }: FedBatch,
  signal: AbortSignal,
): Promise<void> {
  const rowKey = runKey({ tenant: key.tenant, run: key.run });
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    // The first batch of a run makes its row, unless it is delivered again.
    const isFirst = attempt === 0 && events[0]?.sequence === 1;
    const row = isFirst ? undefined : await runs.get(rowKey, signal);
    const before = row?.record ?? create(RunSchema, { runId: key.run });
    const news = events.filter(({ sequence }) => sequence > before.lastSequence);
    if (news.length === 0) return;
    const after = news.reduce(applyToRow, before);
    const written =
      row === undefined
        ? await runs.create(rowKey, after, signal)
        : await runs.update(rowKey, after, row.revision, signal);
    if (written !== undefined) return;
  }
  throw new Error(`row of run ${key.run} changes all the time`);
}

function applyToRow(before: Run, { event, time, sequence }: RunEvent): Run {
  const row = clone(RunSchema, before);
  row.lastSequence = sequence;
  switch (event.case) {
    case "runCreated":
      row.agentId = event.value.agentId;
      row.inputPreview = event.value.input.slice(0, 200);
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
      if (isTerminal(event.value.status)) {
        row.pendingApprovals = [];
        if (time !== undefined) row.endedAt = time;
      }
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
      row.error = event.value;
      break;
    default:
      break;
  }
  return row;
}
