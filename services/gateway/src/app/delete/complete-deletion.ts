import { ErrorReason } from "@reeve/contracts/error";
import type { Run } from "@reeve/contracts/run";
import { threadIdOf } from "@reeve/contracts/rules/workspace-id";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import { Failure } from "@reeve/platform/failure";
import { retryIdOf } from "@reeve/run/commands/run-id";
import { readThread } from "@reeve/run/thread/read-thread";
import { cancelRun } from "../cancel-run.ts";
import type { GatewayPorts } from "../gateway-ports.ts";
import { runExists } from "../run-exists.ts";
import { deleteArtifactsOf } from "./delete-artifacts.ts";
import { deleteWorkspace } from "./delete-workspace.ts";

export interface CompletePorts extends Pick<
  GatewayPorts,
  "log" | "logBatches" | "journal" | "dispatch" | "threads" | "workspaces"
> {
  readonly artifacts: Pick<GatewayPorts["artifacts"], "list" | "delete">;
}

/** What is known of a run whose log is gone. */
export interface DeletedRun {
  readonly threadId: string;
  /** The workspace with its files. */
  readonly workspaceId: string;
  /** Earlier runs that it continued, which have the same files. */
  readonly earlier: readonly string[];
}

/** Returns what the row of a run says. Of several earlier runs, it names the last one. */
export function deletedRunOf({ run }: RunKey, { threadId, origin }: Run): DeletedRun {
  if (origin === undefined) return { threadId, workspaceId: run, earlier: [] };
  return { threadId, workspaceId: origin.runId, earlier: [origin.runId] };
}

/**
 * Deletes the artifacts and the files of a run whose log is gone, unless there is a new run with the same id. Artifacts to which a thread may refer stay; if nothing is known
 * of the run, all do. Of several runs that continue each other, the last one to be deleted takes the files with it. A run that was
 * started meanwhile to continue the run keeps them, and is cancelled. Returns whether there were any files. Can be repeated.
 */
export async function completeDeletion(
  ports: CompletePorts,
  key: RunKey,
  deleted: DeletedRun | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  const { tenant, run } = key;
  if (await runExists(ports, key, signal)) return false;
  if (deleted !== undefined && !(await threadExists(ports, tenant, deleted.threadId, signal))) {
    await deleteArtifactsOf(ports.artifacts, tenant, new Set([run]), signal);
  }
  const retry = { tenant, run: retryIdOf(tenant, run) };
  if (await runExists(ports, retry, signal)) {
    await cancelIfOpen(ports, retry, `run ${run}, which it continues, was deleted`, signal);
    return false;
  }
  const { workspaceId = run, earlier = [] } = deleted ?? {};
  if (threadIdOf(workspaceId) !== undefined) return false;
  for (const each of earlier) {
    if (await runExists(ports, { tenant, run: each }, signal)) return false;
  }
  if (await runExists(ports, key, signal)) return false;
  return await deleteWorkspace(ports.workspaces, { tenant, id: workspaceId }, signal);
}

async function threadExists(
  { threads }: CompletePorts,
  tenant: string,
  thread: string,
  signal: AbortSignal,
): Promise<boolean> {
  return thread !== "" && !(await readThread(threads, { tenant, thread }, signal)).deleted;
}

async function cancelIfOpen(
  ports: CompletePorts,
  { tenant, run }: RunKey,
  reason: string,
  signal: AbortSignal,
): Promise<void> {
  const request = { runId: run, reason };
  await cancelRun(ports, { tenant, subject: "" }, request, signal).catch((error: unknown) => {
    if (!(error instanceof Failure) || error.reason !== ErrorReason.RUN_ENDED) throw error;
  });
}
