import type { ToolCallRequest } from "@reeve/contracts/tool";
import type { ToolhostPresence } from "@reeve/contracts/toolhost";
import type { HostQueues } from "@reeve/jetstream/queue/host-queues";
import type { WorkQueue } from "@reeve/jetstream/queue/port";
import type { WorkspaceKey } from "./workspaces.ts";

/** The other toolhosts, as this one knows them. */
export interface Peers {
  /** Returns the last presence of each live peer, of all pools. */
  list(): readonly ToolhostPresence[];
  /** Whether a host has announced a tool. */
  offers(host: string, tool: string): boolean;
  /** Whether a host is subscribed to its own subject. A host that is connected but does not answer counts. */
  listens(host: string, signal: AbortSignal): Promise<boolean>;
  /** Whether a host is gone, according to the stored presences rather than to what this host has heard. */
  isGone(host: string, signal: AbortSignal): Promise<boolean>;
}

/** Records which host holds each workspace. */
export interface WorkspaceHolders {
  /** Returns the host that holds a workspace. Undefined: no host does. */
  holderOf(workspace: WorkspaceKey, signal: AbortSignal): Promise<string | undefined>;
  /**
   * Makes `host` the holder in place of `instead`, where undefined means that no host holds the workspace. Returns the holder
   * after that: of several concurrent callers, one wins. A host that has the files stays the holder, because they have to be
   * requested from it.
   */
  hold(
    workspace: WorkspaceKey,
    change: { readonly host: string; readonly instead: string | undefined },
    signal: AbortSignal,
  ): Promise<string>;
}

/** What a toolhost needs to have each call executed by the right host of its pool. */
export interface Routing {
  readonly pool: string;
  readonly peers: Peers;
  readonly holders: WorkspaceHolders;
  /** The queues of calls that were forwarded to single hosts, including this one. */
  readonly calls: HostQueues;
  /** The queue of the pool, to which calls are returned. */
  readonly requests: Pick<WorkQueue<ToolCallRequest>, "publish" | "holds">;
}
