import type { WorkspaceFile } from "@reeve/contracts/tool";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { withStagedInputs } from "./workspace-record.ts";
import type { Sandbox } from "@reeve/sandbox/port";
import type { WorkspaceRequest } from "@reeve/calls/ports/workspaces";
import type { HeldWorkspace } from "./held-workspace.ts";
import { writeFile } from "@reeve/sandbox/files/workspace-files";
import type { WorkspacePorts } from "./workspace-ports.ts";

/**
 * Lays the input files of a run into its workspace, once: the record says that it was done, and where it was lost it is
 * done again. They are written by the sandbox itself, so that no link leads elsewhere. Throws a Failure when a path leads
 * out of the workspace, or an artifact is missing.
 */
export async function stageInputs(
  held: HeldWorkspace,
  { tenant, runId, files }: WorkspaceRequest,
  sandbox: Sandbox,
  ports: Pick<WorkspacePorts, "artifacts" | "now">,
  signal: AbortSignal,
): Promise<void> {
  const isDone = () => files.length === 0 || held.record.laid.some((laid) => laid.runId === runId);
  // Calls of one run that begin together wait for one of them. That one may be cancelled, which is nobody else's end.
  for (;;) {
    if (isDone()) return;
    signal.throwIfAborted();
    const underWay = held.staging.get(runId);
    if (underWay === undefined) break;
    await underWay.catch(() => undefined);
  }
  const laying = (async () => {
    for (const file of files) await lay(tenant, file, sandbox, ports, signal);
    await held.change((record) => withStagedInputs(record, runId, ports.now()), signal);
  })();
  held.staging.set(runId, laying);
  try {
    await laying;
  } finally {
    held.staging.delete(runId);
  }
}

async function lay(
  tenant: string,
  { artifactId, path }: WorkspaceFile,
  sandbox: Sandbox,
  { artifacts }: Pick<WorkspacePorts, "artifacts">,
  signal: AbortSignal,
): Promise<void> {
  if (path.startsWith("/") || path.split("/").includes("..")) {
    throw invalid(`the file path ${path} leads out of the workspace`);
  }
  const outcome = await writeFile(
    sandbox,
    path,
    artifacts.read(tenant, artifactId, signal),
    signal,
  );
  if (outcome.kind === "refused") throw invalid(`${path} could not be laid in: ${outcome.reason}`);
}

function invalid(message: string): Failure {
  return new Failure("invalid", ErrorReason.INVALID_REQUEST, message);
}
