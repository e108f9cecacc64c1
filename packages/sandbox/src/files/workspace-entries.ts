import { ErrorReason } from "@reeve/contracts/error";
import { FileKind } from "@reeve/contracts/tool";
import type { ListOperation, ReadOperation } from "@reeve/contracts/tool";
import { Failure } from "@reeve/platform/failure";
import type { Sandbox, SandboxCommand } from "../port.ts";
import { z } from "zod";
import { collectBytes } from "./collect.ts";
import { fileCommand } from "./run-file-program.ts";

const refusedCode = 2;
const kinds = {
  file: FileKind.FILE,
  folder: FileKind.FOLDER,
  link: FileKind.LINK,
  other: FileKind.OTHER,
} as const;
const listed = z.object({
  entries: z.array(z.tuple([z.string(), z.enum(["file", "folder", "link", "other"]), z.number()])),
  next: z.string(),
});
const described = z.object({ size: z.number(), version: z.string() });

/** Returns files of a workspace, sorted by the bytes of their paths. Throws a Failure if the folder does not exist. */
export async function listEntries(
  sandbox: Sandbox,
  { path, recursive, after, most }: ListOperation,
  signal: AbortSignal,
) {
  const request = { operation: "entries", path, recursive, after, most };
  const found = listed.parse(JSON.parse((await output(sandbox, request, signal)).toString("utf8")));
  const entries = found.entries.map(([name, kind, size]) => ({
    path: name,
    kind: kinds[kind],
    sizeBytes: BigInt(size),
  }));
  return { entries, next: found.next };
}

/** Returns a part of a file. Throws a Failure if the file does not exist, or is not the given version. */
export async function readPart(
  sandbox: Sandbox,
  { path, offset, mostBytes, version }: ReadOperation,
  signal: AbortSignal,
) {
  const request = { operation: "part", path, offset: Number(offset), most: mostBytes, version };
  const bytes = await output(sandbox, request, signal);
  const line = bytes.indexOf("\n");
  const { size, version: found } = described.parse(JSON.parse(bytes.toString("utf8", 0, line)));
  return { content: bytes.subarray(line + 1), sizeBytes: BigInt(size), version: found };
}

async function output(
  sandbox: Sandbox,
  request: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<Buffer> {
  const command: SandboxCommand = {
    ...fileCommand("workspace_entries", request),
    readOnly: true,
  };
  const { end, bytes } = await collectBytes(sandbox, command, signal);
  if (end.reason === "exit" && end.code === 0) return bytes("stdout");
  const complaint = bytes("stderr").toString("utf8").trim();
  if (end.code === refusedCode && complaint !== "") throw refusalOf(complaint);
  // Other error output is useless to a client and may reveal internals of the toolhost.
  const how = end.reason === "exit" ? `exit code ${end.code ?? "unknown"}` : end.reason;
  const problem = `cannot read the files of the workspace (${how}); try again`;
  throw new Failure("unavailable", ErrorReason.UNAVAILABLE, problem);
}

/** Returns the Failure for an error message of our own programs, which it recognizes by its text. */
export function refusalOf(complaint: string): Failure {
  const { FILE_NOT_FOUND, INVALID_REQUEST, REVISION_CONFLICT } = ErrorReason;
  if (complaint.endsWith("does not exist"))
    return new Failure("not_found", FILE_NOT_FOUND, complaint);
  return complaint.endsWith("was changed while it was being read")
    ? new Failure("conflict", REVISION_CONFLICT, complaint)
    : new Failure("invalid", INVALID_REQUEST, complaint);
}
