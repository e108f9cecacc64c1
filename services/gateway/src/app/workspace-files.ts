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
import { anyHost, workspaceIdOf } from "@reeve/contracts/workspace-id";
import type { FailureKind } from "@reeve/platform/failure";
import { Failure } from "@reeve/platform/failure";
import type { Table } from "@reeve/jetstream/table/port";
import type { GatewayPorts } from "./gateway-ports.ts";
import { readRun, runKeyOf } from "./read-run.ts";

/** How many bytes are asked for at a time; an answer has to fit into a message of the bus. */
const partBytes = 256 * 1024;
const kinds: ReadonlySet<string> = new Set([
  "not_found",
  "invalid",
  "conflict",
  "exhausted",
  "unavailable",
] satisfies FailureKind[]);

/** What files are reached by. */
export interface FilesPorts {
  readonly log: GatewayPorts["log"];
  readonly records: Pick<Table<WorkspaceRecord>, "get">;
  /** Asks a toolhost. Undefined: there is none of this name. Throws a Failure of kind `unavailable` when it does not answer. */
  requestFiles(
    host: string,
    request: WorkspaceFilesRequest,
    signal: AbortSignal,
  ): Promise<WorkspaceFilesResponse | undefined>;
  /** Whether a toolhost counts as living, by what it has said of itself. */
  isPresent(host: string, signal: AbortSignal): Promise<boolean>;
}

type Operation = MessageInitShape<typeof WorkspaceFilesRequestSchema>["operation"];

/** Files of a run. Throws a Failure of kind `not_found` when there is no such run, or it has no files yet. */
export async function listFiles(
  ports: FilesPorts,
  run: { readonly tenant: string; readonly runId: string },
  list: {
    readonly path: string;
    readonly recursive: boolean;
    readonly most: number;
    after: string;
  },
  signal: AbortSignal,
): Promise<FileList> {
  const ask = await openFiles(ports, run, signal);
  const outcome = await ask({ case: "list", value: list }, signal);
  if (outcome.case === "list") return outcome.value;
  throw unexpected(outcome.case);
}

/** A file of a run: what it is, then its bytes. Throws a Failure of kind `conflict` when it changes meanwhile. */
export async function* readFile(
  ports: FilesPorts,
  tenant: string,
  { runId, path, offset, length }: ReadFileRequest,
  signal: AbortSignal,
): AsyncIterable<ReadFileResponse> {
  const ask = await openFiles(ports, { tenant, runId }, signal);
  let version = "";
  let at = offset;
  let end: bigint | undefined;
  do {
    const left = end === undefined ? (length ?? BigInt(partBytes)) : end - at;
    const maxBytes = left < BigInt(partBytes) ? Number(left) : partBytes;
    const value = { path, offset: at, mostBytes: maxBytes, version };
    const outcome = await ask({ case: "read", value }, signal);
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

/** Writes a file of a run, and gives its size. */
export async function writeFile(
  ports: FilesPorts,
  run: { readonly tenant: string; readonly runId: string },
  write: Extract<Operation, { case?: "write" }>["value"],
  signal: AbortSignal,
): Promise<bigint> {
  const ask = await openFiles(ports, run, signal);
  const outcome = await ask({ case: "write", value: write }, signal);
  if (outcome.case === "writtenBytes") return outcome.value;
  throw unexpected(outcome.case);
}

type Ask = (
  operation: NonNullable<Operation>,
  signal: AbortSignal,
) => Promise<WorkspaceFilesResponse["outcome"]>;

/** A way to ask whoever has the files of a run. */
async function openFiles(
  ports: FilesPorts,
  { tenant, runId }: { readonly tenant: string; readonly runId: string },
  signal: AbortSignal,
): Promise<Ask> {
  const { created } = await readRun(ports.log, runKeyOf(tenant, runId), signal);
  const id = workspaceIdOf(runId, created);
  const key = bucketOf(WorkspaceRecordSchema).key({ tenant, workspace: id });
  return async (operation, until) => {
    const row = await ports.records.get(key, until);
    if (row === undefined && operation.case !== "write") throw noFiles(runId);
    const workspace = { id, files: created?.files ?? [] };
    const request = create(WorkspaceFilesRequestSchema, { tenant, runId, workspace, operation });
    const { holder = "", revision = 0, savedRevision = 0 } = row?.record ?? {};
    const held = holder === "" ? undefined : await ports.requestFiles(holder, request, until);
    // Whoever is asked instead may take the workspace without what is not saved.
    if (held === undefined && savedRevision < revision && (await ports.isPresent(holder, until))) {
      throw notHeard(runId);
    }
    const answer = held ?? (await ports.requestFiles(anyHost, request, until));
    if (answer === undefined) throw noToolhost();
    if (answer.outcome.case === "refused") throw refusal(answer.outcome.value);
    return answer.outcome;
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
  const problem = `run ${runId} has no files: no tool has asked for any yet, or they were deleted after their retention`;
  return new Failure("not_found", ErrorReason.FILE_NOT_FOUND, problem, {
    metadata: { run_id: runId },
  });
}

function notHeard(runId: string): Failure {
  const problem = `the toolhost that has the files of run ${runId} is not reached at the moment, and some of them are nowhere else; try again in a few seconds`;
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, problem, {
    metadata: { run_id: runId },
  });
}

function noToolhost(): Failure {
  const problem =
    "no toolhost with a sandbox answers, and files are reached by one only; start one, or try again in a few seconds";
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, problem);
}

function unexpected(outcome: string | undefined): Failure {
  const problem = `a toolhost gave "${outcome ?? "nothing known"}" for an answer; it is of another version`;
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, problem);
}
