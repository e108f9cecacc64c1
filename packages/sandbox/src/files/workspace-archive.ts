import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { Sandbox, SandboxCommand } from "../port.ts";
import { defaultLimits, filesOnly } from "../port.ts";
import { fileCommand, runFileProgram } from "./run-file-program.ts";

/** How long the making of a snapshot may take, or its laying out. */
export const archiveTimeoutMs = 600_000;
/** What an archive adds to each file and folder. */
const overheadBytes = 4_096;

/** How large the archive of a workspace can be that keeps to its quota. */
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
 * The workspace as a tar stream, made inside the sandbox. Throws a Failure with reason TOO_LARGE when it holds more than it
 * may, as a rule before the first byte.
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
      const why = `no snapshot was made: ${complaint.trim() || event.reason}`;
      throw event.reason === "sandbox_lost" || event.reason === "cancelled"
        ? new Failure("unavailable", ErrorReason.UNAVAILABLE, why)
        : new Failure("exhausted", ErrorReason.TOO_LARGE, why);
    }
  }
}

/**
 * Lays a snapshot into the workspace, inside the sandbox. Without isolation links that lead out of the workspace are left
 * out. Throws a Failure when it does not fit there.
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
  const problem = `the snapshot was not laid in: ${outcome.reason}`;
  throw new Failure("invalid", ErrorReason.INVALID_REQUEST, problem);
}

/** Takes everything out of the workspace, inside the sandbox. Throws a Failure when something stays. */
export async function clearWorkspace(sandbox: Sandbox, signal: AbortSignal): Promise<void> {
  const limits = { ...defaultLimits, timeoutMs: archiveTimeoutMs };
  const command = fileCommand("workspace_archive", { operation: "clear" });
  const outcome = await runFileProgram(sandbox, { ...command, limits }, signal);
  if (outcome.kind === "done") return;
  const problem = `the workspace was not cleared: ${outcome.reason}`;
  throw new Failure("internal", ErrorReason.INTERNAL, problem);
}
