import type { WorkspaceKey } from "@reeve/calls/ports/workspaces";
import type { WorkspaceRecord } from "@reeve/contracts/tool";
import type { ArtifactStore } from "@reeve/jetstream/objects/artifact-store";
import type { Objects } from "@reeve/jetstream/objects/port";
import type { IsTenantDeleted } from "@reeve/jetstream/sealing/deleted-tenants";
import type { Table } from "@reeve/jetstream/table/port";
import type { Clock } from "@reeve/platform/async/clock";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { WorkspaceStorage } from "@reeve/sandbox/storage/workspace-storage";

/** What the workspaces of a host depend on. */
export interface WorkspacePorts {
  readonly records: Table<WorkspaceRecord>;
  readonly snapshots: Objects;
  readonly storage: WorkspaceStorage;
  readonly peers: WorkspacePeers;
  /** Provides the input files of runs. */
  readonly artifacts: Pick<ArtifactStore, "read">;
  /** Returns whether a run is open, according to the index of runs. */
  stateOfRun(tenant: string, runId: string, signal: AbortSignal): Promise<RunLiveness>;
  /** Whether a run with files in this workspace is open. Reads the logs where the index does not know. */
  hasOpenRun(key: WorkspaceKey, signal: AbortSignal): Promise<boolean>;
  /** Whether the key of a tenant was deleted for good, so that its files can go. */
  readonly isTenantDeleted: IsTenantDeleted;
  /** Name of this process, unique to its lifetime. */
  readonly host: string;
  readonly limits: WorkspaceLimits;
  readonly log: Pick<Logger, "info" | "warn">;
  now(): number;
  /** Measures the delays before the store is tried again. */
  readonly clock: Clock;
}

/** The other toolhosts that hold workspaces. */
export interface WorkspacePeers {
  /** Asks a host to save a workspace and release it. With `onlyAsk`, asks whether calls use it there. */
  release(
    host: string,
    workspace: WorkspaceKey & { readonly onlyAsk: boolean },
    signal: AbortSignal,
  ): Promise<ReleaseReply>;
}

/** The reply of a host that is asked to release a workspace. `silent`: none came in time. */
type ReleaseReply = "released" | "busy" | "silent";

export interface WorkspaceLimits {
  /** Bytes and number of the files of one workspace. */
  readonly bytes: number;
  readonly files: number;
  /** How long a workspace must be idle before it is saved. */
  readonly saveAfterMs: number;
  /** How long an idle workspace stays on its host after it was saved. */
  readonly keepMs: number;
  /** How many snapshots of one workspace are kept for the results that name their revisions. */
  readonly snapshots: number;
  /** How long a snapshot outlives the last use of its workspace, or its replacement in the workspace of a thread. */
  readonly retentionMs: number;
}

/** `unknown`: there is no run with this id, or the index does not list it yet. */
export type RunLiveness = "open" | "ended" | "unknown";
