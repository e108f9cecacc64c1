import { ApprovalSchema } from "@reeve/contracts/approval";
import { bucketOf } from "@reeve/contracts/channel";
import { ErrorReason } from "@reeve/contracts/error";
import type { RunEvent } from "@reeve/contracts/run";
import { RunSchema } from "@reeve/contracts/run";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import { Failure } from "@reeve/platform/failure";
import type { RunHead } from "@reeve/run/head/run-head";
import { approvalsOf, emptyHead, foldHead } from "@reeve/run/head/run-head";
import { isTerminal, statusName } from "@reeve/run/head/run-status";
import { retryIdOf } from "@reeve/run/commands/run-id";
import { endTurn } from "@reeve/run/thread/end-turn";
import { deleteArtifactsOf } from "./delete-artifacts.ts";
import { deleteWorkspace } from "./delete-workspace.ts";
import { cancelRun } from "../cancel-run.ts";
import type { GatewayPorts } from "../gateway-ports.ts";
import { runExists } from "../run-exists.ts";

export interface DeletePorts extends Pick<
  GatewayPorts,
  "log" | "logBatches" | "remove" | "journal" | "dispatch" | "threads" | "inbox" | "workspaces"
> {
  readonly runs: Pick<GatewayPorts["runs"], "get" | "delete">;
  readonly artifacts: Pick<GatewayPorts["artifacts"], "list" | "delete">;
}

const { key: rowKey } = bucketOf(RunSchema);
const { key: approvalKey } = bucketOf(ApprovalSchema);

/**
 * Deletes a run that has ended, with everything that belongs to it alone. A turn of a thread stays in the conversation, with
 * the artifacts and the files to which it may refer. Returns whether the run existed. Throws a Failure of kind `precondition`
 * if the run has not ended.
 *
 * The log goes after the parts that only its events name, so a deletion that was interrupted can be repeated. The rows go first,
 * so lists never show a run that is deleted in part, and again after the log, because a projection may have written them
 * meanwhile. Once the log is gone, the deletion searches again for a run that continues this one, and cancels it. A run that
 * starts later finds that this one is gone, and cancels itself. The files go last.
 */
export async function deleteRun(
  ports: DeletePorts,
  key: RunKey,
  signal: AbortSignal,
): Promise<boolean> {
  if (await isBeheaded(ports, key, signal)) {
    await ports.remove.runs.remove(key, signal);
    await deleteFiles(ports, key, signal);
    await ports.runs.delete(rowKey({ ...key }), signal);
    return true;
  }
  const { events } = await ports.log.read(key, emptyTail, signal);
  const head = foldHead(emptyHead, events);
  if (head.created === undefined) return await deleteLeftRow(ports, key, signal);
  if (!isTerminal(head.status)) throw notEnded(key, head);
  await assertNotContinued(ports, key, signal);
  const isInThread = await endsInThread(ports, key, head, signal);
  await deleteRows(ports, key, head, signal).catch((error: unknown) => {
    // A full store refuses to write the deletion of a row. What is removed next makes room for it.
    if (!isFull(error)) throw error;
  });
  await removeJournals(ports, key, events, signal);
  // The end of its turn may have stored the run that continues it, and what came before may have taken seconds.
  await assertNotContinued(ports, key, signal);
  if (!isInThread) await deleteArtifactsOf(ports.artifacts, key.tenant, new Set([key.run]), signal);
  await ports.remove.runs.remove(key, signal);
  await deleteFiles(ports, key, signal);
  await deleteRows(ports, key, head, signal);
  return true;
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
 * Deletes the files of a run whose log is gone. A run that was started meanwhile to continue it keeps them, and is cancelled.
 * Returns whether there were any.
 */
async function deleteFiles(
  ports: DeletePorts,
  { tenant, run }: RunKey,
  signal: AbortSignal,
): Promise<boolean> {
  const retry = { tenant, run: retryIdOf(tenant, run) };
  if (await runExists(ports, retry, signal)) {
    await cancelIfOpen(ports, retry, `run ${run}, which it continues, was deleted`, signal);
    return false;
  }
  return await deleteWorkspace(ports.workspaces, { tenant, id: run }, signal);
}

async function cancelIfOpen(
  ports: DeletePorts,
  { tenant, run }: RunKey,
  reason: string,
  signal: AbortSignal,
): Promise<void> {
  const request = { runId: run, reason };
  await cancelRun(ports, { tenant, subject: "" }, request, signal).catch((error: unknown) => {
    if (!(error instanceof Failure) || error.reason !== ErrorReason.RUN_ENDED) throw error;
  });
}

/** Whether the removal of a log was interrupted: some servers remove its batches one by one, oldest first. */
async function isBeheaded(
  { logBatches }: DeletePorts,
  key: RunKey,
  signal: AbortSignal,
): Promise<boolean> {
  for await (const { first } of logBatches.readBatches(key, signal)) return first > 1;
  return false;
}

/** Deletes the files and the row of a run whose log is gone. Returns whether there were any. */
async function deleteLeftRow(
  ports: DeletePorts,
  key: RunKey,
  signal: AbortSignal,
): Promise<boolean> {
  const { runs } = ports;
  const hadFiles = await deleteFiles(ports, key, signal);
  if ((await runs.get(rowKey({ ...key }), signal)) === undefined) return hadFiles;
  await runs.delete(rowKey({ ...key }), signal);
  return true;
}

async function deleteRows(
  { runs, inbox }: DeletePorts,
  { tenant, run }: RunKey,
  head: RunHead,
  signal: AbortSignal,
): Promise<void> {
  await runs.delete(rowKey({ tenant, run }), signal);
  for (const { approvalId } of approvalsOf(head)) {
    await inbox.delete(approvalKey({ tenant, approval: approvalId }), signal);
  }
}

/**
 * Ends the turn of the run if it is still open: the thread takes its part of the conversation from the log. Returns whether the
 * thread of the run exists.
 */
async function endsInThread(
  ports: DeletePorts,
  { tenant, run }: RunKey,
  { created }: RunHead,
  signal: AbortSignal,
): Promise<boolean> {
  const thread = created?.threadId ?? "";
  if (thread === "") return false;
  const { deleted } = await endTurn(ports, { tenant, thread }, run, signal);
  return !deleted;
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

function isFull(error: unknown): boolean {
  return error instanceof Failure && error.reason === ErrorReason.STORAGE_FULL;
}

function notEnded({ run }: RunKey, { status }: RunHead): Failure {
  const message = `run ${run} has not ended: ${statusName(status)}; cancel it first (\`reeve cancel ${run}\`)`;
  return new Failure("precondition", ErrorReason.RUN_NOT_ENDED, message, {
    metadata: { run_id: run },
  });
}
