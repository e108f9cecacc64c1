import { create } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { ApprovalSchema } from "@reeve/contracts/approval";
import { bucketOf } from "@reeve/contracts/channel";
import { ErrorReason } from "@reeve/contracts/error";
import type { Run, RunEvent } from "@reeve/contracts/run";
import { RunSchema } from "@reeve/contracts/run";
import { workspaceIdOf } from "@reeve/contracts/rules/workspace-id";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import { Failure } from "@reeve/platform/failure";
import { foldRun } from "@reeve/run/commands/fold-run";
import type { RunHead } from "@reeve/run/head/run-head";
import { approvalsOf } from "@reeve/run/head/run-head";
import { runOf } from "@reeve/run/head/run-of";
import { isTerminal, statusName } from "@reeve/run/head/run-status";
import { retryIdOf } from "@reeve/run/commands/run-id";
import { endTurn } from "@reeve/run/thread/end-turn";
import type { CompletePorts, DeletedRun } from "./complete-deletion.ts";
import { completeDeletion, deletedRunOf } from "./complete-deletion.ts";
import type { GatewayPorts } from "../gateway-ports.ts";
import { runExists } from "../run-exists.ts";

export interface DeletePorts
  extends CompletePorts, Pick<GatewayPorts, "remove" | "inbox" | "unconfirmedLog" | "runQuotas"> {
  readonly runs: Pick<GatewayPorts["runs"], "get" | "put" | "createFirst" | "deleteVersion">;
}

/** How often the row of a deleted run is deleted while others write it. */
const maxDrops = 10;
const retryAfterMs = 5_000;
const { key: rowKey } = bucketOf(RunSchema);
const { key: approvalKey } = bucketOf(ApprovalSchema);

/**
 * Deletes a run that has ended, with everything that belongs to it alone. A turn of a thread stays in the conversation, with
 * the artifacts and the files to which it may refer. Returns whether the run existed. Throws a Failure of kind `precondition`
 * if the run has not ended, or another run continues it.
 *
 * The run is whole until its log is removed, and gone from then on. Its row is marked right before, so that lists do
 * not show the run, and it is deleted last: the row of a run without a log says that the deletion is incomplete. A
 * repetition completes it, and so does a rebuild of the index of runs. A rebuild also restores the marked row of a run whose log
 * was not removed.
 *
 * Once the log is gone, the deletion searches again for a run that continues this one, and cancels it. A run that starts later
 * finds that this one is gone, and cancels itself.
 */
export async function deleteRun(
  given: DeletePorts,
  key: RunKey,
  signal: AbortSignal,
): Promise<boolean> {
  // Once for all that is read before the removal of the log. What is read after it is confirmed again.
  await given.unconfirmedLog.settle(signal);
  const ports = { ...given, logBatches: given.unconfirmedLog };
  const stored = await storedPart(ports, key, signal);
  // Some servers remove the batches of a log one by one, oldest first, and can be interrupted.
  const rest = stored?.first === 1 ? undefined : stored;
  const begun = stored && !rest ? await beginDeletion(ports, key, signal) : undefined;
  const { revision } = begun ?? rest ?? {};
  if (revision !== undefined) await ports.remove.runs.removeThrough(key, revision, signal);
  if (begun !== undefined) await releaseQuotas(ports, key, begun.head, signal);
  const row = begun?.row ?? (await ports.runs.get(rowKey({ ...key }), signal))?.record;
  const deleted = begun ? deletedRun(begun.head) : row && deletedRunOf(key, row);
  // Since the confirmation, somebody may have started a new run with this id.
  const hadFiles = await completeDeletion(given, key, deleted, signal);
  // A projection may have written them meanwhile.
  if (begun !== undefined) await deleteApprovals(ports, key, begun.head, signal);
  if (begun !== undefined) await leaveTrace(given, key, begun.row, signal);
  if (rest !== undefined) await leaveTraceOfRest(given, key, signal);
  await dropRow(given, key, signal);
  return stored !== undefined || row !== undefined || hadFiles;
}

interface Begun {
  readonly head: RunHead;
  readonly row: Run;
  /** Revision of the end of its log. */
  readonly revision: number;
}

/** Removes what only the log names, and marks the row. Throws a Failure if the run cannot be deleted. */
async function beginDeletion(
  ports: DeletePorts,
  key: RunKey,
  signal: AbortSignal,
): Promise<Begun | undefined> {
  await assertNotContinued(ports, key, signal);
  const { events, tail } = await ports.log.read(key, emptyTail, signal);
  const head = await foldRun(events, signal);
  // Another deletion has removed the log.
  if (head.created === undefined) return undefined;
  if (!isTerminal(head.status)) throw notEnded(key, head);
  await endTurnOf(ports, key, head, signal);
  await ignoreFull(deleteApprovals(ports, key, head, signal));
  await removeJournals(ports, key, events, signal);
  // The end of its turn may have stored the run that continues it, and what came before may have taken seconds.
  await assertNotContinued(ports, key, signal);
  await keepCost(ports, key, head, signal);
  const row = markedRow(head);
  await ignoreFull(ports.runs.put(rowKey({ ...key }), row, signal));
  return { head, row, revision: tail.revision };
}

function deletedRun({ runId, created }: RunHead): DeletedRun {
  return {
    threadId: created?.threadId ?? "",
    workspaceId: workspaceIdOf(runId, created),
    earlier: created?.inherited?.runIds ?? [],
  };
}

/** Returns the row of a run whose deletion has begun. */
function markedRow(head: RunHead): Run {
  const { runId, threadId, origin, status, createdAt, endedAt, lastSequence } = runOf(head);
  return create(RunSchema, {
    runId,
    threadId,
    status,
    lastSequence,
    deleting: true,
    ...(origin && { origin }),
    ...(createdAt && { createdAt }),
    ...(endedAt && { endedAt }),
  });
}

/** Throws a Failure if a run continues this one: the later run has the files and the artifacts of both. */
async function assertNotContinued(
  ports: Pick<DeletePorts, "logBatches">,
  { tenant, run }: RunKey,
  signal: AbortSignal,
): Promise<void> {
  const retry = retryIdOf(tenant, run);
  if (!(await runExists(ports, { tenant, run: retry }, signal))) return;
  const message = `run ${run} is continued by run ${retry}, which has its files; delete that run first (\`reeve delete ${retry}\`)`;
  throw new Failure("precondition", ErrorReason.RUN_CONTINUED, message, {
    metadata: { run_id: retry },
  });
}

/**
 * Returns the sequence of the first stored event of a run, and the revision of a batch; without the first event, of the last
 * batch. Undefined: nothing is stored.
 */
async function storedPart(
  { logBatches }: DeletePorts,
  key: RunKey,
  signal: AbortSignal,
): Promise<{ readonly first: number; readonly revision: number } | undefined> {
  let part: { readonly first: number; readonly revision: number } | undefined;
  for await (const { first, revision } of logBatches.readBatches(key, signal)) {
    part = { first: part?.first ?? first, revision };
    if (first === 1) break;
  }
  return part;
}

/**
 * Marks the key of a run without a row, because the store was full. The index takes the key of a row that never existed as a sign
 * that the run was not deleted.
 */
async function leaveTrace(
  { runs }: DeletePorts,
  key: RunKey,
  row: Run,
  signal: AbortSignal,
): Promise<void> {
  if ((await runs.get(rowKey({ ...key }), signal)) !== undefined) return;
  await ignoreFull(runs.createFirst(rowKey({ ...key }), row, signal));
}

/** Marks the key of a run whose log an interrupted attempt has removed in part, perhaps without a mark. */
async function leaveTraceOfRest(
  ports: DeletePorts,
  key: RunKey,
  signal: AbortSignal,
): Promise<void> {
  if (await runExists(ports, key, signal)) return;
  await leaveTrace(ports, key, create(RunSchema, { runId: key.run, deleting: true }), signal);
}

/** Deletes the row, unless there is a new run with the same id. Throws a Failure of kind `unavailable` while others write it. */
async function dropRow(ports: DeletePorts, key: RunKey, signal: AbortSignal): Promise<void> {
  for (let attempt = 0; attempt < maxDrops; attempt++) {
    const row = await ports.runs.get(rowKey({ ...key }), signal);
    if (row === undefined || (await runExists(ports, key, signal))) return;
    // The index may write batches that it received before the log was removed.
    if (await ports.runs.deleteVersion(row.key, row.revision, signal)) return;
  }
  const message = `run ${key.run} is deleted but for its row, which changes all the time; try again in a few seconds`;
  throw new Failure("unavailable", ErrorReason.UNAVAILABLE, message, { retryAfterMs });
}

/** Keeps the cost of the run in its day. Before the row is marked, because the index does not have a marked one. */
async function keepCost(
  { runQuotas }: DeletePorts,
  { tenant, run }: RunKey,
  head: RunHead,
  signal: AbortSignal,
): Promise<void> {
  const { endedAt, cost } = runOf(head);
  if (endedAt === undefined || cost?.costUsd === undefined) return;
  const ended = { runId: run, endedAtMs: timestampMs(endedAt), costUsd: cost.costUsd };
  await ignoreFull(runQuotas.keepCost({ tenant, subject: head.startedBy }, ended, signal));
}

/** Frees the room of the run in quotas. Otherwise it would count as open for up to a minute after its start. */
async function releaseQuotas(
  { runQuotas }: DeletePorts,
  { tenant, run }: RunKey,
  { startedBy }: RunHead,
  signal: AbortSignal,
): Promise<void> {
  await ignoreFull(runQuotas.release({ tenant, subject: startedBy }, run, signal));
}

async function deleteApprovals(
  { inbox }: DeletePorts,
  { tenant }: RunKey,
  head: RunHead,
  signal: AbortSignal,
): Promise<void> {
  for (const { approvalId } of approvalsOf(head)) {
    await inbox.delete(approvalKey({ tenant, approval: approvalId }), signal);
  }
}

/** Ends the turn of the run if it is still open: the thread takes its part of the conversation from the log. */
async function endTurnOf(
  ports: DeletePorts,
  { tenant, run }: RunKey,
  { created }: RunHead,
  signal: AbortSignal,
): Promise<void> {
  const thread = created?.threadId ?? "";
  if (thread !== "") await endTurn(ports, { tenant, thread }, run, signal);
}

/**
 * Removes the journals of the finished calls. A toolhost may still follow the journal of another call, to learn of its
 * cancellation; that journal has no result, and expires.
 */
async function removeJournals(
  { remove }: DeletePorts,
  key: RunKey,
  events: readonly RunEvent[],
  signal: AbortSignal,
): Promise<void> {
  for (const { event } of events) {
    if (event.case !== "toolResult" || event.value.result === undefined) continue;
    await remove.journals.remove({ ...key, call: event.value.result.callId }, signal);
  }
}

/** A full store refuses writes, which the removal of the log makes room for. */
async function ignoreFull(writing: Promise<unknown>): Promise<void> {
  await writing.catch((error: unknown) => {
    if (!(error instanceof Failure) || error.reason !== ErrorReason.STORAGE_FULL) throw error;
  });
}

function notEnded({ run }: RunKey, { status }: RunHead): Failure {
  const message = `run ${run} has not ended: ${statusName(status)}; cancel it first (\`reeve cancel ${run}\`)`;
  return new Failure("precondition", ErrorReason.RUN_NOT_ENDED, message, {
    metadata: { run_id: run },
  });
}
