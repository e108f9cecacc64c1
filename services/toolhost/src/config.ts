import { commonSettings, probeAddress } from "@reeve/platform/process/settings";
import { driverNames } from "@reeve/sandbox/drivers";
import { z } from "zod";
import { addressRanges, networkEntries } from "./network-settings.ts";

/** The settings of a toolhost, from environment variables. */
export const toolhostConfig = z.object({
  ...commonSettings,
  /** Where probes are answered. */
  REEVE_TOOLHOST_LISTEN: probeAddress,
  /** Folder below which the workspaces of runs lie. */
  REEVE_DATA_DIR: z.string().default(".reeve"),
  /** The pool whose calls this toolhost takes. */
  REEVE_POOL: z
    .string()
    .regex(/^[A-Za-z0-9_-]+$/, "may hold letters, digits, _ and - only")
    .default("default"),
  /** How many calls run at a time. */
  REEVE_TOOLHOST_CONCURRENCY: z.coerce.number().int().min(1).max(1_000).default(4),
  /** How long running calls may go on when the toolhost ends, in milliseconds. */
  REEVE_DRAIN_MS: z.coerce.number().int().min(0).default(30_000),
  /** JSON file with the MCP servers, see docs/tools.md. */
  REEVE_MCP_CONFIG: z.string().optional(),
  /** JSON file with the providers of tools, see docs/tools.md. */
  REEVE_PROVIDERS_CONFIG: z.string().optional(),
  /**
   * The isolation of code. `auto`: the first of kubernetes, docker and bubblewrap that works here. `unsafe-local` is none. Where the
   * wanted one does not work, and by its name, `files-only` runs our own programs over files and nothing else.
   */
  REEVE_SANDBOX: z.enum(["auto", ...driverNames, "none"]).default("auto"),
  /** User and group id of sandboxed processes when the toolhost runs as root. */
  REEVE_SANDBOX_UID: z.coerce.number().int().min(1).max(4_294_967_294).default(64_017),
  /** The image of docker and kubernetes sandboxes; for the latter with a version. `scripts/sandbox-image.ts` makes one. */
  REEVE_SANDBOX_IMAGE: z.string().default("reeve-sandbox:latest"),
  /**
   * The runtime of docker sandboxes, the RuntimeClass of kubernetes ones. Absent: gVisor's (`runsc`, `gvisor`) where there is
   * one and it works, else the usual one.
   */
  REEVE_SANDBOX_RUNTIME: z
    .string()
    .regex(/^[A-Za-z0-9._-]+$/, "may hold letters, digits, ., _ and - only")
    .optional(),
  /** How many sandboxes wait for runs that have no workspace yet. Absent: 2 with docker, none with others. */
  REEVE_SANDBOX_SPARE: z.coerce.number().int().min(0).max(32).optional(),
  /** Where kubernetes sandboxes are made. Absent: the namespace of the toolhost. */
  REEVE_SANDBOX_NAMESPACE: z.string().optional(),
  /** The SandboxWarmPool of agent-sandbox whose pods are claimed. Absent, or without agent-sandbox: each session starts a pod. */
  REEVE_SANDBOX_WARM_POOL: z.string().optional(),
  /** The cluster of kubernetes sandboxes, for a toolhost outside of it that is told `REEVE_SANDBOX=kubernetes`. */
  KUBECONFIG: z.string().optional(),
  /** Given to every pod, by which a toolhost knows that it is in one. */
  KUBERNETES_SERVICE_HOST: z.string().optional(),
  /** Where the container engine is: unix:// or tcp://. */
  DOCKER_HOST: z.string().optional(),
  /**
   * Hosts and ports that an agent may be given, as `*.example.org:443`; `*` stands for all hosts, and for all ports. Empty:
   * sandboxes have no network, whatever an agent asks for.
   */
  REEVE_NETWORK_ALLOW: networkEntries.prefault(""),
  /** Addresses and ranges of this host, its links and private networks that sandboxes may reach nevertheless. */
  REEVE_NETWORK_RANGES: addressRanges.prefault(""),
  /** How much all connections of one call together may move. */
  REEVE_NETWORK_MAX_BYTES: z.coerce.number().int().min(1).default(268_435_456),
  /** How long a sandbox is kept for another call over the same workspace. */
  REEVE_SANDBOX_IDLE_MS: z.coerce.number().int().min(0).max(3_600_000).default(60_000),
  /** How many sandboxes are kept so, over all workspaces. */
  REEVE_SANDBOX_MAX_IDLE: z.coerce.number().int().min(0).max(1_000).default(16),
  /** How many bytes the files of one workspace may have together. */
  REEVE_WORKSPACE_BYTES: z.coerce.number().int().min(1_048_576).default(1_073_741_824),
  /** How many files and folders one workspace may have. */
  REEVE_WORKSPACE_FILES: z.coerce.number().int().min(10).default(100_000),
  /** How long no call may have run in a workspace before it is saved. */
  REEVE_WORKSPACE_SAVE_MS: z.coerce.number().int().min(0).max(3_600_000).default(2_000),
  /** How long a saved workspace that nobody uses stays on its host while its run goes on. */
  REEVE_WORKSPACE_KEEP_MS: z.coerce.number().int().min(1_000).default(3_600_000),
  /** For how many days after its last use the snapshot of a workspace is kept. */
  REEVE_WORKSPACE_DAYS: z.coerce.number().min(0.001).max(10_000).default(7),
  /** How large a published file may be. */
  REEVE_MAX_ARTIFACT_BYTES: z.coerce.number().int().min(1).default(104_857_600),
});

export type ToolhostConfig = z.infer<typeof toolhostConfig>;
