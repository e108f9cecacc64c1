import type { MountedSkill, WorkspaceFile, WorkspaceRecord } from "@reeve/contracts/tool";
import type { Sandbox } from "@reeve/sandbox/port";
import type { Progress } from "./tool.ts";

/** Identifies a workspace. */
export interface WorkspaceKey {
  readonly tenant: string;
  readonly id: string;
}

/** Who needs a workspace, and what for. */
export interface WorkspaceRequest extends WorkspaceKey {
  readonly runId: string;
  /** The call. Empty: a client accesses the files. */
  readonly callId: string;
  readonly tool: string;
  /** The input files of the run. */
  readonly files: readonly WorkspaceFile[];
  /** The run for which they are staged, once: the first of the runs that continue each other. */
  readonly stagedFor: string;
  /** The skills that the sandbox has read-only, if it can mount them. Default: none. */
  readonly skills?: readonly MountedSkill[];
  /** Receives what code and commands print while they run. Absent: nobody reads it. */
  readonly onProgress?: (progress: Progress) => void;
}

/** The workspaces of a deployment, of which one host at a time holds each. */
export interface Workspaces {
  /**
   * Opens a workspace on this host: the files that it already has, or the last snapshot when another host had the workspace.
   * Stages the input files of a run before its first use, once. No other host gets the workspace before it is disposed, unless
   * this host is lost. Throws a Failure when the workspace is unavailable, or when the path of an input file leads out of it.
   */
  open(request: WorkspaceRequest, signal: AbortSignal): Promise<OpenWorkspace>;
}

/** A workspace in use by one call. */
export interface OpenWorkspace extends AsyncDisposable {
  /** The sandbox of the workspace. A command that may write ends only after the record of the workspace names the call. */
  readonly sandbox: Sandbox;
  /** The revision that the call made. 0: it has only read. */
  readonly revision: number;
  /** Losses that the result of this call must report. Undefined: there are none, or a concurrent call reports them. */
  readonly losses: Losses | undefined;
  /** Resolves when nothing else writes to the workspace, and keeps it so until this use of the workspace ends. */
  holdAlone(signal: AbortSignal): Promise<void>;
  /** Confirms that the result with these losses is recorded. Without it, the next call reports them. */
  markLossesReported(): void;
}

/** Changes of a workspace that are lost and that no result has reported yet. */
export type Losses = Pick<WorkspaceRecord, "lost" | "lostMore" | "lostSnapshot">;
