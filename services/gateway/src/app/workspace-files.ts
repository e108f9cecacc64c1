import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { bucketOf } from "@reeve/contracts/channel";
import { ErrorReason } from "@reeve/contracts/error";
import type {
  FileList,
  ReadFileRequest,
  ReadFileResponse,
  WorkspaceFilesRequest,
  WorkspaceFilesResponse,
  WorkspaceRecord,
} from "@reeve/contracts/tool";
import {
  FileKind,
  ReadFileResponseSchema,
  WorkspaceFilesRequestSchema,
  WorkspaceRecordSchema,
} from "@reeve/contracts/tool";
import { anyHost, workspaceOf } from "@reeve/contracts/rules/workspace-id";
import type { FailureKind } from "@reeve/platform/failure";
import { Failure } from "@reeve/platform/failure";
import type { Table } from "@reeve/jetstream/table/port";
import type { GatewayPorts } from "./gateway-ports.ts";
import { readRun, runKeyOf } from "./read-run.ts";

/** The maximum size of a part of a file, in bytes. The reply has to fit into a NATS message. */
const partBytes = 256 * 1024;
/** The failure kinds of a toolhost that are passed on; others become `unavailable`. */
const kinds: ReadonlySet<string> = new Set([
  "not_found",
  "invalid",
  "conflict",
  "exhausted",
  "unavailable",
] satisfies FailureKind[]);

/** The ports for access to the files of workspaces. */
export interface FilesPorts {
  readonly log: GatewayPorts["log"];
  readonly records: Pick<Table<WorkspaceRecord>, "get">;
  /**
   * Sends a request to a toolhost. Returns undefined if no such toolhost is connected. Throws a Failure of kind
   * `unavailable` if the toolhost does not answer.
   */
  requestFiles(
    host: string,
    request: WorkspaceFilesRequest,
    signal: AbortSignal,
  ): Promise<WorkspaceFilesResponse | undefined>;
  /** Whether a toolhost is alive, by its presence record. */
  isPresent(host: string, signal: AbortSignal): Promise<boolean>;
}

type Operation = MessageInitShape<typeof WorkspaceFilesRequestSchema>["operation"];

/** Lists the files of a run. Throws a Failure of kind `not_found` if the run does not exist or has no files yet. */
export async function listFiles(
  ports: FilesPorts,
  run: { readonly tenant: string; readonly runId: string },
  {
    maxEntries,
    ...list
  }: {
    readonly path: string;
    readonly recursive: boolean;
    readonly maxEntries: number;
    readonly after: string;
  },
  signal: AbortSignal,
): Promise<FileList> {
  const request = await openFiles(ports, run, signal);
  const value = { ...list, most: maxEntries };
  const outcome = await request({ case: "list", value }, signal);
  if (outcome.case === "list") return outcome.value;
  throw unexpected(outcome.case);
}

/**
 * Reads a file of a run: yields its description first, then its content in chunks. Throws a Failure of kind `conflict` if the
 * file changes during the read.
 */
export async function* readFile(
  ports: FilesPorts,
  tenant: string,
  { runId, path, offset, length }: ReadFileRequest,
  signal: AbortSignal,
): AsyncIterable<ReadFileResponse> {
  const request = await openFiles(ports, { tenant, runId }, signal);
  let version = "";
  let at = offset;
  let end: bigint | undefined;
  do {
    const remaining = end === undefined ? (length ?? BigInt(partBytes)) : end - at;
    const maxBytes = remaining < BigInt(partBytes) ? Number(remaining) : partBytes;
    const value = { path, offset: at, mostBytes: maxBytes, version };
    const outcome = await request({ case: "read", value }, signal);
    if (outcome.case !== "part") throw unexpected(outcome.case);
    const { content, sizeBytes } = outcome.value;
    if (end === undefined) {
      ({ version } = outcome.value);
      end = length === undefined || offset + length > sizeBytes ? sizeBytes : offset + length;
      const file = { path, kind: FileKind.FILE, sizeBytes };
      yield create(ReadFileResponseSchema, { part: { case: "file", value: file } });
    }
    if (content.length === 0) return;
    yield create(ReadFileResponseSchema, { part: { case: "chunk", value: content } });
    at += BigInt(content.length);
  } while (at < end);
}

/** Writes a file of a run, and returns its size in bytes. */
export async function writeFile(
  ports: FilesPorts,
  run: { readonly tenant: string; readonly runId: string },
  write: Extract<Operation, { case?: "write" }>["value"],
  signal: AbortSignal,
): Promise<bigint> {
  const request = await openFiles(ports, run, signal);
  const outcome = await request({ case: "write", value: write }, signal);
  if (outcome.case === "writtenBytes") return outcome.value;
  throw unexpected(outcome.case);
}

type SendOperation = (
  operation: NonNullable<Operation>,
  signal: AbortSignal,
) => Promise<WorkspaceFilesResponse["outcome"]>;

/** Returns a function that sends operations to the toolhost with the files of a run. */
async function openFiles(
  ports: FilesPorts,
  { tenant, runId }: { readonly tenant: string; readonly runId: string },
  signal: AbortSignal,
): Promise<SendOperation> {
  const { created } = await readRun(ports.log, runKeyOf(tenant, runId), signal);
  const workspace = workspaceOf(runId, created);
  const key = bucketOf(WorkspaceRecordSchema).key({ tenant, workspace: workspace.id });
  return async (operation, until) => {
    const row = await ports.records.get(key, until);
    if (row === undefined && operation.case !== "write") throw noFiles(runId);
    const request = create(WorkspaceFilesRequestSchema, { tenant, runId, workspace, operation });
    const { holder = "", revision = 0, savedRevision = 0 } = row?.record ?? {};
    const held = holder === "" ? undefined : await ports.requestFiles(holder, request, until);
    // Any other toolhost would restore the last snapshot, without the changes that are not saved yet.
    if (held === undefined && savedRevision < revision && (await ports.isPresent(holder, until))) {
      throw holderUnreachable(runId);
    }
    const response = held ?? (await ports.requestFiles(anyHost, request, until));
    if (response === undefined) throw noToolhost();
    if (response.outcome.case === "refused") throw refusal(response.outcome.value);
    return response.outcome;
  };
}

function refusal({
  kind,
  message,
  reason,
}: {
  kind: string;
  message: string;
  reason: ErrorReason;
}) {
  return new Failure(isKnown(kind) ? kind : "unavailable", reason, message);
}

function isKnown(kind: string): kind is FailureKind {
  return kinds.has(kind);
}

function noFiles(runId: string): Failure {
  const message = `run ${runId} has no files: no tool has used its workspace yet, or the files were deleted after their retention`;
  return new Failure("not_found", ErrorReason.FILE_NOT_FOUND, message, {
    metadata: { run_id: runId },
  });
}

function holderUnreachable(runId: string): Failure {
  const message = `the toolhost with the files of run ${runId} is unreachable, and has changes that are not saved yet; try again in a few seconds`;
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, message, {
    metadata: { run_id: runId },
  });
}

function noToolhost(): Failure {
  const message =
    "no toolhost with a sandbox answers, and only such a toolhost can access files; start one, or try again in a few seconds";
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, message);
}

function unexpected(outcome: string | undefined): Failure {
  const message = `a toolhost returned the unexpected outcome "${outcome ?? "unknown"}"; run the same version of Reeve in all services`;
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, message);
}
