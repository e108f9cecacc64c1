import type { WorkspaceRecord } from "@reeve/contracts/tool";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { ArtifactStore } from "@reeve/jetstream/objects/artifact-store";
import type { Objects } from "@reeve/jetstream/objects/port";
import type { Table } from "@reeve/jetstream/table/port";
import type { WorkspaceKey } from "@reeve/calls/ports/workspaces";
import type { WorkspacePeers } from "./workspace-holders.ts";
import type { WorkspaceStorage } from "@reeve/sandbox/storage/workspace-storage";

/** What the keeping of workspaces stands on. */
export interface WorkspacePorts {
  readonly records: Table<WorkspaceRecord>;
  readonly snapshots: Objects;
  readonly place: WorkspaceStorage;
  readonly peers: WorkspacePeers;
  /** Where input files come from. */
  readonly artifacts: Pick<ArtifactStore, "read">;
  /** Whether a run goes on, as far as it is known. */
  stateOfRun(tenant: string, runId: string, signal: AbortSignal): Promise<RunLiveness>;
  /** Whether a run goes on that has its files in this workspace; read from the logs where it has to be. */
  hasOpenRun(key: WorkspaceKey, signal: AbortSignal): Promise<boolean>;
  /** Name of this process, unique to its life. */
  readonly host: string;
  readonly limits: WorkspaceLimits;
  readonly log: Pick<Logger, "info" | "warn">;
  now(): number;
}

export interface WorkspaceLimits {
  /** Bytes and number of the files of one workspace. */
  readonly bytes: number;
  readonly files: number;
  /** How long no call may have run in a workspace before it is saved. */
  readonly saveAfterMs: number;
  /** How long a workspace that nobody uses stays where it is once it is saved. */
  readonly keepMs: number;
  /** How long a snapshot outlives the last use of its workspace. */
  readonly retentionMs: number;
}

/** `unknown`: there is no run of this id, or nobody has listed it yet. */
export type RunLiveness = "open" | "ended" | "unknown";
