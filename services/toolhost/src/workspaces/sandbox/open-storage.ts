import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import type { SandboxFeatures } from "@reeve/contracts/tool";
import { SandboxFeaturesSchema } from "@reeve/contracts/tool";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { Identity } from "@reeve/sandbox/host/identity";
import { workspaceRoot } from "@reeve/sandbox/host/workspace-root";
import { SpareSandboxes } from "@reeve/sandbox/lifecycle/spare-sandboxes";
import { WarmSandboxes } from "@reeve/sandbox/lifecycle/warm-sandboxes";
import type { Lookups } from "@reeve/sandbox/network/lookups";
import type { NetworkCredential } from "@reeve/sandbox/network/network-credential";
import { NetworkedDriver } from "@reeve/sandbox/network/networked-driver";
import type { SandboxDriver } from "@reeve/sandbox/port";
import { defaultLimits } from "@reeve/sandbox/port";
import { HostWorkspaceStorage } from "@reeve/sandbox/storage/host-workspace-storage";
import { SessionWorkspaceStorage } from "@reeve/sandbox/storage/session-workspace-storage";
import { storageId } from "@reeve/sandbox/storage/storage-id";
import type { WorkspaceStorage } from "@reeve/sandbox/storage/workspace-storage";
import type { ToolhostConfig } from "../../config.ts";

/** The drivers whose sandboxes wait as spares by default. Two hide their start from runs that begin one after the other. */
const driversWithSpares: ReadonlySet<string> = new Set(["docker", "bubblewrap"]);
const defaultSpares = 2;

export interface ChosenDriver {
  readonly driver: SandboxDriver;
  readonly isolates: boolean;
  readonly identity: Identity;
}

export interface OpenStorage {
  /** The driver, with spare sandboxes and access to the network. */
  readonly driver: SandboxDriver;
  readonly storage: WorkspaceStorage;
  /** What the sandboxes offer to code and commands. */
  readonly features: SandboxFeatures;
  /** Folder of this host for the skills that sandboxes mount. Undefined: they mount none. */
  readonly skillsRoot: string | undefined;
  /** How many sandboxes wait for a command now. */
  readonly waiting: () => WaitingSandboxes;
  /** Ends the sandboxes when it is disposed. */
  readonly resources: AsyncDisposableStack;
}

/** The sandboxes that wait for a command. */
export interface WaitingSandboxes {
  /** For the next command of their workspace. */
  readonly warm: number;
  /** For a new workspace. */
  readonly spare: number;
}

/** Sandboxes that keep their workspace wait for nothing else. */
const noneWaiting = (): WaitingSandboxes => ({ warm: 0, spare: 0 });

interface StorageOptions {
  readonly log: Logger;
  readonly credentials: readonly NetworkCredential[];
  readonly lookups: Lookups;
}

/** The settings of sandboxes, and the names of the credentials of their proxies. */
interface Offered {
  readonly config: ToolhostConfig;
  readonly credentials: readonly string[];
}

/** Opens the workspace storage of a driver: in its sessions, or in folders of this host that warm sandboxes mount. */
export function openStorage(
  { driver: chosen, isolates, identity }: ChosenDriver,
  config: ToolhostConfig,
  { log, credentials, lookups }: StorageOptions,
): OpenStorage {
  const resources = new AsyncDisposableStack();
  const idleMs = config.REEVE_SANDBOX_IDLE_MS;
  const offered = { config, credentials: credentials.map(({ name }) => name) };
  if (chosen.keepsWorkspace === "session") {
    const storage = resources.use(new SessionWorkspaceStorage(chosen, { idleMs }));
    const features = featuresOf(offered, chosen, "session");
    const none = { skillsRoot: undefined, waiting: noneWaiting };
    return { driver: chosen, storage, features, ...none, resources };
  }
  const root = workspaceRoot(config.REEVE_DATA_DIR, identity);
  // Before anything that has to be released: it reads the disk, and may fail.
  const id = storageId(config.REEVE_DATA_DIR);
  const ofDriver = driversWithSpares.has(chosen.name) ? defaultSpares : 0;
  const spares = config.REEVE_SANDBOX_SPARE ?? ofDriver;
  const hasSpares = spares > 0;
  const { memoryBytes, processes } = defaultLimits;
  const spareOptions = {
    count: spares,
    spec: { readOnly: false, memoryBytes, processes },
    folder: join(root, ".spare"),
    identity,
    log,
  };
  const spare = hasSpares ? resources.use(new SpareSandboxes(chosen, spareOptions)) : undefined;
  const ready = spare ?? chosen;
  const policy = {
    allow: config.REEVE_NETWORK_ALLOW,
    ranges: config.REEVE_NETWORK_RANGES,
    maxBytes: config.REEVE_NETWORK_MAX_BYTES,
  };
  // No tenant has a name with a dot.
  const folder = () => join(root, ".network");
  const driver = isolates
    ? new NetworkedDriver(ready, { policy, identity, folder, lookups, log, credentials })
    : ready;
  const maxIdle = config.REEVE_SANDBOX_MAX_IDLE;
  const warm = resources.use(new WarmSandboxes(driver, { idleMs, maxIdle }));
  const storage = new HostWorkspaceStorage({ id, root, identity, hasSpares }, warm);
  const features = featuresOf(offered, chosen, isolates ? "isolated" : "open");
  const waiting = () => ({ warm: warm.waiting, spare: spare?.waiting ?? 0 });
  const skillsRoot = isolates ? join(root, ".skills") : undefined;
  return { driver, storage, features, skillsRoot, waiting, resources };
}

/** Returns what sandboxes offer that end with their workspace, that are isolated, or that are processes of this machine. */
function featuresOf(
  { config, credentials }: Offered,
  driver: Pick<SandboxDriver, "name">,
  kind: "session" | "isolated" | "open",
): SandboxFeatures {
  const permitted = config.REEVE_NETWORK_ALLOW.map(({ text }) => text);
  const networkAllow = { session: [], isolated: permitted, open: ["*:*"] }[kind];
  return create(SandboxFeaturesSchema, {
    networkAllow,
    readOnlyWorkspace: kind === "isolated",
    mountsSkills: kind === "isolated",
    workspaceBytes: BigInt(config.REEVE_WORKSPACE_BYTES),
    image: imageOf(config, driver),
    networkCredentials: kind === "isolated" ? [...credentials] : [],
  });
}

/** Returns the image of the sandboxes, or what determines it. Empty for drivers without images. */
function imageOf(
  { REEVE_SANDBOX_IMAGE: image, REEVE_SANDBOX_WARM_POOL: warmPool }: ToolhostConfig,
  { name }: Pick<SandboxDriver, "name">,
): string {
  if (name === "kubernetes" && warmPool !== undefined) return `warm-pool:${warmPool}`;
  return name === "docker" || name === "kubernetes" ? image : "";
}
