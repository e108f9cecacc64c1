import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { ErrorReason } from "@reeve/contracts/error";
import type {
  WorkspaceFilesRequest,
  WorkspaceFilesResponse,
  WriteOperation,
} from "@reeve/contracts/tool";
import { WorkspaceFilesResponseSchema } from "@reeve/contracts/tool";
import { threadIdOf } from "@reeve/contracts/workspace-id";
import { Failure } from "@reeve/platform/failure";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { ArtifactStore } from "@reeve/jetstream/objects/artifact-store";
import { z } from "zod";
import type { Sandbox } from "@reeve/sandbox/port";
import type { Workspaces } from "@reeve/calls/ports/workspaces";
import type { Shares } from "@reeve/platform/async/shares";
import { listEntries, readPart, refusalOf } from "@reeve/sandbox/files/workspace-entries";
import { writeFile } from "@reeve/sandbox/files/workspace-files";

export interface FilesPorts {
  readonly workspaces: Workspaces;
  readonly artifacts: Pick<ArtifactStore, "read">;
  readonly shares: Pick<Shares, "take">;
  readonly log: Pick<Logger, "warn">;
}

type Outcome = NonNullable<MessageInitShape<typeof WorkspaceFilesResponseSchema>["outcome"]>;

const written = z.object({ bytes: z.number() });

/** Does what a client asks with the files of a workspace. What is wrong with that is an answer too, whatever it is. */
export async function answerFiles(
  { tenant, runId, workspace, operation }: WorkspaceFilesRequest,
  { workspaces, artifacts, shares, log }: FilesPorts,
  signal: AbortSignal,
): Promise<WorkspaceFilesResponse> {
  const id = workspace?.id || runId;
  // What a run of a thread was given may have been changed by a later one, which is not undone by looking at it.
  const files = threadIdOf(id) !== undefined ? [] : (workspace?.files ?? []);
  const wanted = { tenant, id, runId, callId: "", tool: "WriteFile", files };
  try {
    using _ = await shares.take(tenant, signal);
    await using open = await workspaces.open(wanted, signal);
    const outcome = await perform(operation, open.sandbox, { tenant, artifacts }, signal);
    return create(WorkspaceFilesResponseSchema, { outcome });
  } catch (error) {
    if (!(error instanceof Failure)) log.warn({ err: error, tenant, id }, "files not looked at");
    const { kind, message, reason } = error instanceof Failure ? error : broken(id);
    const value = { kind, message, reason };
    return create(WorkspaceFilesResponseSchema, { outcome: { case: "refused", value } });
  }
}

async function perform(
  operation: WorkspaceFilesRequest["operation"],
  sandbox: Sandbox,
  at: Pick<FilesPorts, "artifacts"> & { readonly tenant: string },
  signal: AbortSignal,
): Promise<Outcome> {
  switch (operation.case) {
    case "list":
      return { case: "list", value: await listEntries(sandbox, operation.value, signal) };
    case "read":
      return { case: "part", value: await readPart(sandbox, operation.value, signal) };
    case "write":
      return { case: "writtenBytes", value: await write(operation.value, sandbox, at, signal) };
    case undefined:
      throw invalid("this toolhost is older than what is asked of it; update it");
  }
}

async function write(
  { path, source }: WriteOperation,
  sandbox: Sandbox,
  { tenant, artifacts }: Pick<FilesPorts, "artifacts"> & { readonly tenant: string },
  signal: AbortSignal,
): Promise<bigint> {
  if (source.case === undefined) throw invalid("it is not said what to write");
  const content =
    source.case === "content" ? source.value : artifacts.read(tenant, source.value, signal);
  const outcome = await writeFile(sandbox, path, content, signal);
  if (outcome.kind === "refused") throw refusalOf(outcome.reason);
  return BigInt(written.parse(JSON.parse(outcome.text)).bytes);
}

/** An error of ours, or the end of the time. Whoever asks would wait for long if nothing were answered. */
function broken(id: string): Failure {
  const problem = `the files of the workspace ${id} could not be reached; try again, or look at the log of the toolhost`;
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, problem);
}

function invalid(problem: string): Failure {
  return new Failure("invalid", ErrorReason.INVALID_REQUEST, problem);
}
