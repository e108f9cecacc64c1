import { commonSettings, probeAddress } from "@reeve/platform/process/settings";
import { driverNames } from "@reeve/sandbox/drivers";
import { maxReadBytes } from "@reeve/sandbox/files/workspace-files";
import { maxSearchedBytes } from "@reeve/sandbox/files/workspace-search";
import { z } from "zod";
import { addressRanges, networkEntries } from "@reeve/sandbox/network/network-settings";

/** The settings of a toolhost, from environment variables. */
export const toolhostConfig = z.object({
  ...commonSettings,
  /** Address of the probes. */
  REEVE_TOOLHOST_LISTEN: probeAddress,
  /** Folder for the workspaces of runs. */
  REEVE_DATA_DIR: z.string().default(".reeve"),
  /** The pool whose calls this toolhost takes. */
  REEVE_POOL: z
    .string()
    .regex(/^[A-Za-z0-9_-]+$/, "may contain only letters, digits, _, and -")
    .default("default"),
  /** How many calls run concurrently. */
  REEVE_TOOLHOST_CONCURRENCY: z.coerce.number().int().min(1).max(1_000).default(8),
  /**
   * How many calls of MCP servers and providers run beside them if a runtime in the same process hands them over. They start no process
   * here. 0: none.
   */
  REEVE_TOOLHOST_LOCAL_CONCURRENCY: z.coerce.number().int().min(0).max(1_000).default(64),
  /**
   * The way of calls from a runtime in the same process, as `reeve up` has one: within the process, or through the queue. Calls of other
   * processes take the queue.
   */
  REEVE_TOOL_CALL_PATH: z.enum(["process", "queue"]).default("process"),
  /** How long running calls may continue when the toolhost ends, in milliseconds. */
  REEVE_DRAIN_MS: z.coerce.number().int().min(0).default(30_000),
  /** JSON file that lists the MCP servers, see docs/tools.md. */
  REEVE_MCP_CONFIG: z.string().optional(),
  /** JSON file that lists the tool providers, see docs/tools.md. */
  REEVE_PROVIDERS_CONFIG: z.string().optional(),
  /** JSON file that says where the secrets of tenants are, see docs/tools.md. */
  REEVE_SECRETS_CONFIG: z.string().optional(),
  /**
   * Isolation of code. `auto`: the first of kubernetes, docker, and bubblewrap that works here. `unsafe-local`: none. `files-only`
   * runs our own file programs and no other code; it is also the fallback when the configured isolation does not work.
   */
  REEVE_SANDBOX: z.enum(["auto", ...driverNames, "none"]).default("auto"),
  /** User and group id of sandboxed processes when the toolhost runs as root. */
  REEVE_SANDBOX_UID: z.coerce.number().int().min(1).max(4_294_967_294).default(64_017),
  /** Image of docker and kubernetes sandboxes, for kubernetes with a version. `scripts/sandbox-image.ts` builds it. */
  REEVE_SANDBOX_IMAGE: z.string().default("reeve-sandbox:latest"),
  /**
   * Runtime of docker sandboxes, or RuntimeClass of kubernetes sandboxes. Absent: that of gVisor (`runsc`, `gvisor`) if it is
   * installed and works, else the default.
   */
  REEVE_SANDBOX_RUNTIME: z
    .string()
    .regex(/^[A-Za-z0-9._-]+$/, "may contain only letters, digits, ., _, and -")
    .optional(),
  /** How many spare sandboxes wait for runs that have no workspace yet. Absent: 2 with docker and bubblewrap, else none. */
  REEVE_SANDBOX_SPARE: z.coerce.number().int().min(0).max(32).optional(),
  /** Namespace of kubernetes sandboxes. Absent: that of the toolhost. */
  REEVE_SANDBOX_NAMESPACE: z.string().optional(),
  /** SandboxWarmPool of agent-sandbox whose pods are claimed. Absent, or without agent-sandbox: each session starts a pod. */
  REEVE_SANDBOX_WARM_POOL: z.string().optional(),
  /** Kubeconfig of the cluster, for a toolhost outside of it with `REEVE_SANDBOX=kubernetes`. */
  KUBECONFIG: z.string().optional(),
  /** Set in every pod. Tells the toolhost that it runs in one. */
  KUBERNETES_SERVICE_HOST: z.string().optional(),
  /** Address of the container engine: unix:// or tcp://. */
  DOCKER_HOST: z.string().optional(),
  /**
   * Hosts and ports that agents may use, such as `*.example.org:443`. `*` matches all hosts, or all ports. Empty: sandboxes have no
   * network, whatever an agent requests.
   */
  REEVE_NETWORK_ALLOW: networkEntries.prefault(""),
  /** Addresses and ranges of this host, its links, and private networks that sandboxes may reach. */
  REEVE_NETWORK_RANGES: addressRanges.prefault(""),
  /** How many bytes all connections of one call may transfer together. */
  REEVE_NETWORK_MAX_BYTES: z.coerce.number().int().min(1).default(268_435_456),
  /** How many pages `fetch_page` reads at a time, each with up to 256 MiB of memory. A tenant has at most half of them, rounded up. */
  REEVE_PAGE_READERS: z.coerce.number().int().min(1).max(64).default(2),
  /** The API of the search engine of `web_search`. Absent: there is no such tool. */
  REEVE_WEB_SEARCH: z.enum(["searxng", "brave"]).optional(),
  /** Address of the search engine. Required for searxng. Default for brave: its public API. */
  REEVE_WEB_SEARCH_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** Key of the search engine. Required for brave. */
  REEVE_WEB_SEARCH_KEY: z.string().min(8).optional(),
  /** The browser of the browser tools. Absent: there are none. */
  REEVE_BROWSER: z.enum(["chromium"]).optional(),
  /** How many browsers run at a time, each with up to 1 GiB of memory. A tenant has at most half of them. */
  REEVE_BROWSER_SESSIONS: z.coerce.number().int().min(1).max(32).default(2),
  /** How long a sandbox stays warm for another call in the same workspace. */
  REEVE_SANDBOX_IDLE_MS: z.coerce.number().int().min(0).max(3_600_000).default(60_000),
  /** How many sandboxes stay warm, over all workspaces. */
  REEVE_SANDBOX_MAX_IDLE: z.coerce.number().int().min(0).max(1_000).default(16),
  /** How many bytes all files of one workspace may have together. */
  REEVE_WORKSPACE_BYTES: z.coerce.number().int().min(1_048_576).default(1_073_741_824),
  /** How many files and folders one workspace may contain. */
  REEVE_WORKSPACE_FILES: z.coerce.number().int().min(10).default(100_000),
  /** How long a workspace must be idle before it is saved. */
  REEVE_WORKSPACE_SAVE_MS: z.coerce.number().int().min(0).max(3_600_000).default(2_000),
  /** How long an idle workspace stays on its host after it was saved, while its run is open. */
  REEVE_WORKSPACE_KEEP_MS: z.coerce.number().int().min(1_000).default(3_600_000),
  /** How many snapshots of one workspace are kept for the results that name their revisions. 0: only the last one. */
  REEVE_WORKSPACE_SNAPSHOTS: z.coerce.number().int().min(0).max(1_000).default(1_000),
  /** How many days a snapshot is retained: after the last use of its workspace, or once it is replaced, after it was made. */
  REEVE_WORKSPACE_DAYS: z.coerce.number().min(0.001).max(10_000).default(7),
  /** Maximum text that one call of `read_file` returns, in bytes. The sandbox limits all output of a call. */
  REEVE_READ_MAX_BYTES: z.coerce.number().int().min(1_000).max(8_000_000).default(maxReadBytes),
  /** Maximum size of a file that `grep` searches, in bytes. It skips larger files. */
  REEVE_GREP_MAX_BYTES: z.coerce
    .number()
    .int()
    .min(1_000)
    .max(100_000_000)
    .default(maxSearchedBytes),
  /** Maximum size of a published file, in bytes. */
  REEVE_MAX_ARTIFACT_BYTES: z.coerce.number().int().min(1).default(104_857_600),
});

export type ToolhostConfig = z.infer<typeof toolhostConfig>;
