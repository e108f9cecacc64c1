import { ErrorReason } from "@reeve/contracts/error";
import type { Run } from "@reeve/contracts/run";
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

/**
 * Deletes the artifacts and the files of a run whose log is gone. Its row says whether a thread refers to the artifacts; without
 * a row, they stay. A run that was started meanwhile to continue the run keeps the files, and is cancelled. Returns whether there
 * were any files. Can be repeated, and needs no room in the store.
 */
export async function completeDeletion(
  ports: CompletePorts,
  key: RunKey,
  row: Pick<Run, "threadId"> | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  const { tenant, run } = key;
  if (row !== undefined && !(await threadExists(ports, tenant, row.threadId, signal))) {
    await deleteArtifactsOf(ports.artifacts, tenant, new Set([run]), signal);
  }
  const retry = { tenant, run: retryIdOf(tenant, run) };
  if (await runExists(ports, retry, signal)) {
    await cancelIfOpen(ports, retry, `run ${run}, which it continues, was deleted`, signal);
    return false;
  }
  return await deleteWorkspace(ports.workspaces, { tenant, id: run }, signal);
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
