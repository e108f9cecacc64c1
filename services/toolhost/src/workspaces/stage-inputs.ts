import type { WorkspaceRequest } from "@reeve/calls/ports/workspaces";
import { ErrorReason } from "@reeve/contracts/error";
import type { WorkspaceFile } from "@reeve/contracts/tool";
import { Failure } from "@reeve/platform/failure";
import { writeFile } from "@reeve/sandbox/files/workspace-files";
import type { Sandbox } from "@reeve/sandbox/port";
import type { HeldWorkspace } from "./held-workspace.ts";
import type { WorkspacePorts } from "./workspace-ports.ts";
import { withStagedInputs } from "./workspace-record.ts";

/**
 * Writes the input files of a run into its workspace, once for all runs that continue each other: the record says that they are
 * staged, and they are staged again where they were lost. The sandbox writes them, so that no link leads elsewhere. Throws a Failure when a path leads out of the
 * workspace, or when an artifact is missing.
 */
export async function stageInputs(
  held: HeldWorkspace,
  { tenant, stagedFor, files }: WorkspaceRequest,
  sandbox: Sandbox,
  ports: Pick<WorkspacePorts, "artifacts" | "now">,
  signal: AbortSignal,
): Promise<void> {
  const isStaged = () =>
    files.length === 0 || held.record.laid.some(({ runId }) => runId === stagedFor);
  // Concurrent calls of one run wait for the first of them. If that one is cancelled, the next one stages the files.
  for (;;) {
    if (isStaged()) return;
    signal.throwIfAborted();
    const inProgress = held.staging.get(stagedFor);
    if (inProgress === undefined) break;
    await inProgress.catch(() => undefined);
  }
  const staging = (async () => {
    for (const file of files) await stageInput(tenant, file, sandbox, ports, signal);
    await held.change((record) => withStagedInputs(record, stagedFor, ports.now()), signal);
  })();
  held.staging.set(stagedFor, staging);
  try {
    await staging;
  } finally {
    held.staging.delete(stagedFor);
  }
}

async function stageInput(
  tenant: string,
  { artifactId, path }: WorkspaceFile,
  sandbox: Sandbox,
  { artifacts }: Pick<WorkspacePorts, "artifacts">,
  signal: AbortSignal,
): Promise<void> {
  if (path.startsWith("/") || path.split("/").includes("..")) {
    throw invalid(`the file path ${path} leads out of the workspace`);
  }
  const content = artifacts.read(tenant, artifactId, signal);
  const outcome = await writeFile(sandbox, path, content, signal);
  if (outcome.kind === "refused") {
    throw invalid(`the input file ${path} was not written: ${outcome.reason}`);
  }
}

function invalid(message: string): Failure {
  return new Failure("invalid", ErrorReason.INVALID_REQUEST, message);
}
