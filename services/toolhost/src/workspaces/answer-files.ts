import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { Workspaces } from "@reeve/calls/ports/workspaces";
import { ErrorReason } from "@reeve/contracts/error";
import type {
  WorkspaceFilesRequest,
  WorkspaceFilesResponse,
  WriteOperation,
} from "@reeve/contracts/tool";
import { WorkspaceFilesResponseSchema } from "@reeve/contracts/tool";
import { threadIdOf } from "@reeve/contracts/rules/workspace-id";
import type { ArtifactStore } from "@reeve/jetstream/objects/artifact-store";
import type { KeyedSemaphore } from "@reeve/platform/async/coordination/keyed-semaphore";
import { Failure } from "@reeve/platform/failure";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { listEntries, readPart, refusalOf } from "@reeve/sandbox/files/workspace-entries";
import { writeFile } from "@reeve/sandbox/files/workspace-files";
import type { Sandbox } from "@reeve/sandbox/port";
import { z } from "zod";

export interface FilesPorts {
  readonly workspaces: Workspaces;
  readonly artifacts: Pick<ArtifactStore, "read">;
  /** Limits concurrent operations, by tenant. */
  readonly permits: Pick<KeyedSemaphore, "acquire">;
  readonly log: Pick<Logger, "warn">;
}

type Outcome = NonNullable<MessageInitShape<typeof WorkspaceFilesResponseSchema>["outcome"]>;

const writeReport = z.object({ bytes: z.number() });

/** Performs a file operation of a client on a workspace. Every error is an answer too. */
export async function answerFiles(
  { tenant, runId, workspace, operation }: WorkspaceFilesRequest,
  { workspaces, artifacts, permits, log }: FilesPorts,
  signal: AbortSignal,
): Promise<WorkspaceFilesResponse> {
  const id = workspace?.id || runId;
  // A later run of the thread may have changed the input files of this one. Looking at them must not undo that.
  const files = threadIdOf(id) !== undefined ? [] : (workspace?.files ?? []);
  const stagedFor = workspace?.stagedFor || runId;
  const request = { tenant, id, runId, callId: "", tool: "WriteFile", files, stagedFor };
  try {
    using permit = await permits.acquire(tenant, signal);
    if (permit === undefined) throw tooMany();
    await using open = await workspaces.open(request, signal);
    const outcome = await perform(operation, open.sandbox, { tenant, artifacts }, signal);
    return create(WorkspaceFilesResponseSchema, { outcome });
  } catch (error) {
    if (!(error instanceof Failure)) {
      log.warn({ err: error, tenant, id }, "file operation of a client failed");
    }
    const { kind, message, reason } = error instanceof Failure ? error : unavailable(id);
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
      throw invalid("this toolhost is too old for the requested operation; update it");
  }
}

async function write(
  { path, source }: WriteOperation,
  sandbox: Sandbox,
  { tenant, artifacts }: Pick<FilesPorts, "artifacts"> & { readonly tenant: string },
  signal: AbortSignal,
): Promise<bigint> {
  if (source.case === undefined) throw invalid("the request does not say what to write");
  const content =
    source.case === "content" ? source.value : artifacts.read(tenant, source.value, signal);
  const outcome = await writeFile(sandbox, path, content, signal);
  if (outcome.kind === "refused") throw refusalOf(outcome.reason);
  return BigInt(writeReport.parse(JSON.parse(outcome.text)).bytes);
}

/** For an internal error, and for a timeout. Without an answer, the client would wait until its own timeout. */
function unavailable(id: string): Failure {
  const problem = `the files of the workspace ${id} are unavailable; try again, or look at the log of the toolhost`;
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, problem);
}

function tooMany(): Failure {
  const problem = "too many operations on files of this tenant wait; try again in a few seconds";
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, problem);
}

function invalid(problem: string): Failure {
  return new Failure("invalid", ErrorReason.INVALID_REQUEST, problem);
}
