import type { Progress } from "@reeve/calls/ports/tool";
import type { ExecEvent, Sandbox, SandboxCommand, SandboxLimits } from "@reeve/sandbox/port";
import type { Pause } from "./output-progress.ts";
import { OutputProgress, growingPause } from "./output-progress.ts";
import type { WorkspaceLimits } from "../workspace-ports.ts";

/** What applies to each command that runs in a workspace. */
export interface CommandPolicy {
  /** The quota of the workspace. A command never gets more, whatever limits it asks for. */
  readonly quota: Pick<WorkspaceLimits, "bytes" | "files">;
  /** Records changes of the workspace. Absent: the caller records them. */
  readonly changes?: ChangeRecorder;
  /** Resolves when a command may write, with a function to call when it has ended. Absent: it always may. */
  readonly enter?: (signal: AbortSignal) => Promise<() => void>;
  /** Receives what code and commands print while they run. Absent: nobody reads it. */
  readonly onProgress?: (progress: Progress) => void;
}

/** Records that a command may change files. */
interface ChangeRecorder {
  /** Resolves with the revision of the workspace when the change is recorded. */
  record(signal: AbortSignal): Promise<number>;
  /** Called with that revision before the command ends. */
  onRecorded(revision: number): void;
}

/**
 * Wraps the sandbox of a workspace: each command stays within the quota, reports its output, and ends only after its change
 * is recorded, unless it is read-only.
 */
export function workspaceSandbox(
  sandbox: Sandbox,
  policy: CommandPolicy,
  pause: Pause = growingPause,
): Sandbox {
  return {
    isolation: sandbox.isolation,
    exec: (command, signal) => execute(sandbox, command, { ...policy, pause }, signal),
  };
}

async function* execute(
  sandbox: Sandbox,
  command: SandboxCommand,
  { quota, changes, enter, onProgress, pause }: CommandPolicy & { readonly pause: Pause },
  signal: AbortSignal,
): AsyncIterable<ExecEvent> {
  const leave = command.readOnly === true ? undefined : await enter?.(signal);
  using _ = { [Symbol.dispose]: () => leave?.() };
  // Written while the command runs, which takes longer, and before anyone learns that it ended.
  const recording = command.readOnly === true ? undefined : changes?.record(signal);
  recording?.catch(() => undefined);
  using output =
    onProgress && printsForPeople(command) ? new OutputProgress(onProgress, pause) : undefined;
  const limits = withinQuota(command.limits, quota);
  for await (const event of sandbox.exec({ ...command, limits }, signal)) {
    if (event.kind === "out" && event.stream !== "result") output?.add(event.bytes);
    if (event.kind === "end" && recording !== undefined && !signal.aborted) {
      changes?.onRecorded(await recording);
    }
    yield event;
  }
}

/** Our programs over files print records for other code to parse. */
function printsForPeople({ program }: SandboxCommand): boolean {
  return program === undefined || program === "execute_code";
}

function withinQuota(
  limits: SandboxLimits,
  { bytes, files }: CommandPolicy["quota"],
): SandboxLimits {
  return {
    ...limits,
    workspaceBytes: Math.min(limits.workspaceBytes, bytes),
    workspaceFiles: Math.min(limits.workspaceFiles, files),
    fileBytes: Math.min(limits.fileBytes, bytes),
  };
}
