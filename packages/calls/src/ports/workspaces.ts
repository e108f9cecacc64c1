import type { WorkspaceFile } from "@reeve/contracts/tool";
import type { Losses } from "./losses.ts";
import type { Sandbox } from "@reeve/sandbox/port";

/** Who wants a workspace, and for what. */
export interface WantedWorkspace {
  readonly tenant: string;
  /** Id of the workspace. */
  readonly id: string;
  readonly runId: string;
  /** The call; empty when a client does something to the files. */
  readonly callId: string;
  readonly tool: string;
  /** The input files of the run. */
  readonly files: readonly WorkspaceFile[];
}

/** Workspaces, wherever they were before. */
export interface Workspaces {
  /**
   * Gets a workspace here: as it lies, or from its last snapshot when another host had it. Before the first use by a run
   * its input files are laid in, once. Nobody gets it elsewhere before it is disposed, short of the loss of this host. Throws a
   * Failure when it is not to be had, or the path of a file leads out of it.
   */
  open(wanted: WantedWorkspace, signal: AbortSignal): Promise<OpenWorkspace>;
}

/** A workspace in use by one call. */
export interface OpenWorkspace extends AsyncDisposable {
  /** The sandbox over it. A command that may write ends only when the record of the workspace names the call. */
  readonly sandbox: Sandbox;
  /** The revision that the call made. 0: it has only read. */
  readonly revision: number;
  /** What is gone since results last told of it, to be told by this one; the other calls of this moment tell nothing. */
  readonly losses: Losses | undefined;
  /** Says that the result with these losses stands. Unless it does, the next call tells them. */
  told(): void;
}
