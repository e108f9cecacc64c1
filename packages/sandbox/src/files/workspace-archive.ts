import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { Sandbox, SandboxCommand } from "../port.ts";
import { defaultLimits, filesOnly } from "../port.ts";
import { fileCommand, runFileProgram } from "./run-file-program.ts";

/** How long creating or restoring a snapshot may take. */
export const archiveTimeoutMs = 600_000;
/** Overhead of an archive for each file and folder. */
const overheadBytes = 4_096;

/** Returns the maximum size of an archive of a workspace within its quota. */
export function maxArchiveBytes({
  bytes,
  files,
}: {
  readonly bytes: number;
  readonly files: number;
}): number {
  return bytes + files * overheadBytes;
}

/**
 * Yields the workspace as a tar stream, created inside the sandbox. Throws a Failure with reason TOO_LARGE if the workspace
 * exceeds the given size, usually before the first byte.
 */
export async function* snapshotWorkspace(
  sandbox: Sandbox,
  { bytes, files }: { readonly bytes: number; readonly files: number },
  signal: AbortSignal,
): AsyncIterable<Uint8Array> {
  const outputBytes = maxArchiveBytes({ bytes, files });
  const limits = { ...defaultLimits, timeoutMs: archiveTimeoutMs, outputBytes };
  const snapshot = fileCommand("workspace_archive", { operation: "snapshot", most: bytes });
  let complaint = "";
  for await (const event of sandbox.exec({ ...snapshot, limits }, signal)) {
    if (event.kind === "out" && event.stream === "stdout") yield event.bytes;
    else if (event.kind === "out") complaint += Buffer.from(event.bytes).toString("utf8");
    else if (event.kind === "end" && (event.reason !== "exit" || event.code !== 0)) {
      const why = `cannot create a snapshot: ${complaint.trim() || event.reason}`;
      throw event.reason === "sandbox_lost" || event.reason === "cancelled"
        ? new Failure("unavailable", ErrorReason.UNAVAILABLE, why)
        : new Failure("exhausted", ErrorReason.TOO_LARGE, why);
    }
  }
}

/**
 * Restores a snapshot into the workspace, inside the sandbox. Without isolation, links that lead out of the workspace are
 * left out. Throws a Failure if the snapshot cannot be restored.
 */
export async function restoreWorkspace(
  sandbox: Sandbox,
  archive: NonNullable<SandboxCommand["stdin"]>,
  signal: AbortSignal,
): Promise<void> {
  const limits = { ...defaultLimits, timeoutMs: archiveTimeoutMs };
  const links_out = sandbox.isolation !== filesOnly;
  const command = fileCommand("workspace_archive", { operation: "restore", links_out });
  const outcome = await runFileProgram(sandbox, { ...command, stdin: archive, limits }, signal);
  if (outcome.kind === "done") return;
  const problem = `cannot restore the snapshot: ${outcome.reason}`;
  throw new Failure("invalid", ErrorReason.INVALID_REQUEST, problem);
}

/** Deletes all files of the workspace, inside the sandbox. Throws a Failure if some remain. */
export async function clearWorkspace(sandbox: Sandbox, signal: AbortSignal): Promise<void> {
  const limits = { ...defaultLimits, timeoutMs: archiveTimeoutMs };
  const command = fileCommand("workspace_archive", { operation: "clear" });
  const outcome = await runFileProgram(sandbox, { ...command, limits }, signal);
  if (outcome.kind === "done") return;
  const problem = `cannot clear the workspace: ${outcome.reason}`;
  throw new Failure("internal", ErrorReason.INTERNAL, problem);
}
