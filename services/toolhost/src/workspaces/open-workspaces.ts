import { bucketOf } from "@reeve/contracts/channel";
import { ErrorReason } from "@reeve/contracts/error";
import { RunSchema } from "@reeve/contracts/run";
import { WorkspaceRecordSchema } from "@reeve/contracts/tool";
import { askedLiveness } from "@reeve/run/liveness/asked-liveness";
import { isTerminal } from "@reeve/run/head/run-status";
import { steadyClock } from "@reeve/platform/async/clock";
import { Background } from "@reeve/platform/async/background";
import { connectionStateOf } from "@reeve/platform/nats/connection-state";
import { Failure } from "@reeve/platform/failure";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import type { ArtifactStore } from "@reeve/jetstream/objects/artifact-store";
import { openObjects } from "@reeve/jetstream/objects/nats";
import { openDeletedTenants } from "@reeve/jetstream/sealing/deleted-tenants";
import { openTable } from "@reeve/jetstream/table/nats";
import { workspaceBucket } from "@reeve/jetstream/objects/workspace-store";
import { evictWorkspaces } from "./evict-workspaces.ts";
import { hasOpenRun } from "./open-runs.ts";
import { sweepWorkspaces } from "./sweep-workspaces.ts";
import { maxArchiveBytes } from "@reeve/sandbox/files/workspace-archive";
import type { WorkspaceStorage } from "@reeve/sandbox/storage/workspace-storage";
import { SkillFolders } from "./skills/skill-folders.ts";
import { skilledWorkspaces } from "./skills/skilled-workspaces.ts";
import { sandboxIdentity } from "@reeve/sandbox/host/identity";
import { WorkspaceKeeper } from "./workspace-keeper.ts";
import type { WorkspacePorts } from "./workspace-ports.ts";
import type { ToolhostConfig } from "../config.ts";
import type { Workspaces } from "@reeve/calls/ports/workspaces";
import { serveWorkspaceFiles } from "./serve-workspace-files.ts";
import { answerReleases, natsWorkspacePeers } from "./nats-workspace-peers.ts";

/** Interval between checks for workspaces to evict. */
const evictIntervalMs = 3_000;
/** Interval between sweeps of records, snapshots, and folders. */
const sweepIntervalMs = 600_000;
const dayMs = 86_400_000;

export interface WorkspacesOptions {
  readonly config: ToolhostConfig;
  readonly nats: Nats;
  readonly artifacts: ArtifactStore;
  readonly host: string;
  readonly log: Logger;
}

/** The workspace storage of this host, or why it has none. */
type StorageOrRefusal =
  | { readonly storage: WorkspaceStorage; readonly skillsRoot?: string | undefined }
  | { readonly storage?: undefined; readonly refusal: string };

/** The workspaces of this host. */
export interface HostWorkspaces extends Workspaces, AsyncDisposable {
  /** How many it has. */
  readonly count: number;
}

/** Opens the workspaces of this host. Disposing saves them and releases them to the other hosts. */
export async function openWorkspaces(
  sandboxes: StorageOrRefusal,
  { config, nats, artifacts, host, log }: WorkspacesOptions,
  signal: AbortSignal,
): Promise<HostWorkspaces> {
  if (sandboxes.storage === undefined) {
    const refused = new Failure("unavailable", ErrorReason.UNAVAILABLE, sandboxes.refusal);
    return {
      count: 0,
      open: () => Promise.reject(refused),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  }
  const { storage, skillsRoot } = sandboxes;
  await using opening = new AsyncDisposableStack();
  const limits = {
    bytes: config.REEVE_WORKSPACE_BYTES,
    files: config.REEVE_WORKSPACE_FILES,
    saveAfterMs: config.REEVE_WORKSPACE_SAVE_MS,
    keepMs: Math.min(config.REEVE_WORKSPACE_KEEP_MS, storage.idleMs ?? Number.POSITIVE_INFINITY),
    snapshots: config.REEVE_WORKSPACE_SNAPSHOTS,
    retentionMs: config.REEVE_WORKSPACE_DAYS * dayMs,
  };
  const runs = await openTable(nats, RunSchema);
  const stateOfRun: WorkspacePorts["stateOfRun"] = async (tenant, run, until) => {
    const row = await runs.get(bucketOf(RunSchema).key({ tenant, run }), until);
    if (row === undefined) return "unknown";
    return isTerminal(row.record.status) ? "ended" : "open";
  };
  const liveness = askedLiveness(nats);
  const ports: WorkspacePorts = {
    records: await openTable(nats, WorkspaceRecordSchema),
    snapshots: await openObjects(nats, {
      bucket: workspaceBucket,
      maxBytes: maxArchiveBytes(limits),
    }),
    storage,
    peers: natsWorkspacePeers(nats),
    artifacts,
    stateOfRun,
    hasOpenRun: (key, until) => hasOpenRun(key, { liveness, stateOfRun }, until),
    isTenantDeleted: await openDeletedTenants(nats),
    host,
    limits,
    log,
    now: () => Date.now(),
    clock: steadyClock,
  };
  const keeper = new WorkspaceKeeper(ports);
  // Disposed last: a host that waits for a workspace while it is saved here needs a reply, or takes it unsaved.
  opening.use(answerReleases(nats, ports, keeper));
  opening.defer(connectionStateOf(nats.connection).onChange(() => keeper.invalidate()));
  opening.use(keeper);
  const background = opening.use(new Background(log, signal));
  background.run((until) => evictWorkspaces(keeper, ports, evictIntervalMs, until));
  background.run((until) => sweepWorkspaces(keeper, ports, sweepIntervalMs, until));
  opening.use(serveWorkspaceFiles(nats, ports, { workspaces: keeper, artifacts }));
  const identity = sandboxIdentity(config.REEVE_SANDBOX_UID);
  const skills =
    skillsRoot === undefined
      ? undefined
      : opening.use(new SkillFolders({ below: skillsRoot, identity, artifacts }));
  const skilled = skilledWorkspaces(keeper, skills);
  const resources = opening.move();
  return {
    get count() {
      return keeper.count;
    },
    open: (request, until) => skilled.open(request, until),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
