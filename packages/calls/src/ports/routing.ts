import type { ToolCallRequest } from "@reeve/contracts/tool";
import type { ToolhostPresence } from "@reeve/contracts/toolhost";
import type { HostQueues } from "@reeve/jetstream/queue/host-queues";
import type { WorkQueue } from "@reeve/jetstream/queue/port";

/** The other toolhosts, as far as it is known. */
export interface Mates {
  /** Those that live, of all pools, as they last said. */
  list(): readonly ToolhostPresence[];
  /** Whether a host has announced a tool. */
  offers(host: string, tool: string): boolean;
  /** Whether somebody listens where the host did. A host that is there and says nothing counts as one that listens. */
  listens(host: string, signal: AbortSignal): Promise<boolean>;
  /** Whether a host is gone, by what is stored and not by what was heard of it. */
  isGone(host: string, signal: AbortSignal): Promise<boolean>;
}

export interface WorkspaceKey {
  readonly tenant: string;
  readonly id: string;
}

/** Who has the files of runs. */
export interface WorkspaceHolders {
  /** The host that holds a workspace; undefined: none ever did. */
  holderOf(workspace: WorkspaceKey, signal: AbortSignal): Promise<string | undefined>;
  /**
   * Makes `host` the holder where `instead` is; undefined: where nobody is. Gives who holds the workspace then: of several that
   * ask at once, one of them. A host that has files there stays the holder: they are to be asked for.
   */
  hold(
    workspace: WorkspaceKey,
    change: { readonly host: string; readonly instead: string | undefined },
    signal: AbortSignal,
  ): Promise<string>;
}

/** What a toolhost of a pool with several needs to have a call made where it belongs. */
export interface Routing {
  readonly pool: string;
  readonly mates: Mates;
  readonly holders: WorkspaceHolders;
  /** The calls that were sent on to single hosts, this one among them. */
  readonly calls: HostQueues;
  /** Back to the pool. */
  readonly requests: Pick<WorkQueue<ToolCallRequest>, "publish" | "holds">;
}
