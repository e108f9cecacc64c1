import type { WorkspaceFile } from "@reeve/contracts/tool";
import type { Sandbox } from "./sandbox.ts";

/** The workspaces of runs on this host. */
export interface Workspaces {
  /**
   * The sandbox over the workspace of a run. Before its first use the files are laid in, once. Throws a Failure when one
   * is not to be had, or its path leads out of the workspace.
   */
  open(
    workspace: {
      readonly tenant: string;
      readonly runId: string;
      readonly files: readonly WorkspaceFile[];
    },
    signal: AbortSignal,
  ): Promise<Sandbox>;
}
