import { join } from "node:path";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { ArtifactStore } from "@reeve/jetstream/objects/artifact-store";
import { editFile } from "./tools/builtin/edit-file.ts";
import { executeCode } from "./tools/builtin/execute-code.ts";
import { readFile, writeFileTool } from "./tools/builtin/files.ts";
import { publishReport } from "./tools/builtin/publish-report.ts";
import { refusingTool } from "./tools/builtin/refusing.ts";
import { runCommand } from "./tools/builtin/run-command.ts";
import { globFiles, grepFiles, listFiles } from "./tools/builtin/search-files.ts";
import type { ToolhostConfig } from "./config.ts";
import type { SandboxDriver } from "@reeve/sandbox/port";
import { defaultLimits } from "@reeve/sandbox/port";
import type { Tool } from "@reeve/calls/ports/tool";
import type { WorkspaceStorage } from "@reeve/sandbox/storage/workspace-storage";
import type { Identity } from "@reeve/sandbox/host/identity";
import { sandboxIdentity } from "@reeve/sandbox/host/identity";
import { createDrivers } from "@reeve/sandbox/drivers";
import { chooseDriver } from "@reeve/sandbox/lifecycle/choose-driver";
import { HostWorkspaceStorage } from "@reeve/sandbox/storage/host-workspace-storage";
import type { NetworkPolicy } from "@reeve/sandbox/network/network-policy";
import { NetworkedDriver } from "@reeve/sandbox/network/networked-driver";
import { resolveHost } from "@reeve/sandbox/network/lookups";
import { SpareSandboxes } from "@reeve/sandbox/lifecycle/spare-sandboxes";
import { storageId } from "@reeve/sandbox/storage/storage-id";
import { SessionWorkspaceStorage } from "@reeve/sandbox/storage/session-workspace-storage";
import { WarmSandboxes } from "@reeve/sandbox/lifecycle/warm-sandboxes";
import { workspaceRoot } from "@reeve/sandbox/host/workspace-root";

/** A container takes long to start; two that wait hide that from runs that begin one after the other. */
const dockerSpares = 2;

/** What this host has to execute foreign code, if it has. */
export interface Sandboxes extends AsyncDisposable {
  readonly isolation: string;
  readonly tools: readonly Tool[];
  /** Where workspaces lie. Absent: nowhere, because there are no sandboxes. */
  readonly place?: WorkspaceStorage;
  /** Why there are no sandboxes. */
  readonly refusal?: string;
  /** What makes the sandboxes. Absent: there are none. */
  readonly driver?: SandboxDriver;
}

export interface SandboxesOptions {
  readonly config: ToolhostConfig;
  readonly artifacts: ArtifactStore;
  readonly log: Logger;
}

/**
 * Finds the isolation of this host. Without one, tools that need it refuse: they and the log say what was tried and what
 * would help.
 */
export async function openSandboxes(
  { config, artifacts, log }: SandboxesOptions,
  signal: AbortSignal,
): Promise<Sandboxes> {
  const identity = sandboxIdentity(config.REEVE_SANDBOX_UID);
  const drivers = createDrivers({
    identity,
    image: config.REEVE_SANDBOX_IMAGE,
    runtime: config.REEVE_SANDBOX_RUNTIME,
    docker: {
      address: config.DOCKER_HOST,
      probeDir: () => workspaceRoot(config.REEVE_DATA_DIR, identity),
    },
    kubernetes: {
      // A kubeconfig that happens to exist does not mean that pods are wanted there.
      kubeconfig: config.REEVE_SANDBOX === "kubernetes" ? config.KUBECONFIG : undefined,
      isInside: config.KUBERNETES_SERVICE_HOST !== undefined,
      namespace: config.REEVE_SANDBOX_NAMESPACE,
      warmPool: config.REEVE_SANDBOX_WARM_POOL,
    },
  });
  const choice = await chooseDriver(config.REEVE_SANDBOX, drivers, log, signal);
  const { driver: chosen, refusal } = choice;
  if (chosen === undefined) {
    const isolation = "none";
    return {
      isolation,
      tools: [],
      refusal: choice.refusal,
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  }
  await using opening = new AsyncDisposableStack();
  const isolates = choice.report.isolates;
  const { driver, place } = sandboxesOf(chosen, isolates, { config, identity, log }, opening);
  const resources = opening.move();
  return {
    isolation: driver.name,
    driver,
    tools: [
      ...[executeCode, runCommand].map((tool) =>
        refusal === undefined ? tool : refusingTool(tool, refusal),
      ),
      readFile,
      writeFileTool,
      editFile,
      listFiles,
      globFiles,
      grepFiles,
      publishReport(artifacts, config.REEVE_MAX_ARTIFACT_BYTES),
    ],
    place,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** What makes sandboxes, with those that are made ahead and the way to the network, and where workspaces lie. */
function sandboxesOf(
  chosen: SandboxDriver,
  isolates: boolean,
  given: { readonly config: ToolhostConfig; readonly identity: Identity; readonly log: Logger },
  opening: AsyncDisposableStack,
): { readonly driver: SandboxDriver; readonly place: WorkspaceStorage } {
  const { config, identity, log } = given;
  const idleMs = config.REEVE_SANDBOX_IDLE_MS;
  if (chosen.keepsWorkspace === "session") {
    return { driver: chosen, place: opening.use(new SessionWorkspaceStorage(chosen, { idleMs })) };
  }
  const root = workspaceRoot(config.REEVE_DATA_DIR, identity);
  const count = config.REEVE_SANDBOX_SPARE ?? (chosen.name === "docker" ? dockerSpares : 0);
  const hasSpares = count > 0;
  const { memoryBytes, processes } = defaultLimits;
  const ready = hasSpares
    ? opening.use(
        new SpareSandboxes(chosen, {
          count,
          spec: { readOnly: false, memoryBytes, processes },
          folder: join(root, ".spare"),
          identity,
          log,
        }),
      )
    : chosen;
  const driver = isolates
    ? new NetworkedDriver(ready, {
        policy: policyOf(config),
        identity,
        // No tenant has a name with a dot.
        folder: () => join(root, ".network"),
        resolve: resolveHost,
        log,
      })
    : ready;
  const maxIdle = config.REEVE_SANDBOX_MAX_IDLE;
  const warm = opening.use(new WarmSandboxes(driver, { idleMs, maxIdle }));
  const id = storageId(config.REEVE_DATA_DIR);
  return { driver, place: new HostWorkspaceStorage({ id, root, identity, hasSpares }, warm) };
}

function policyOf(config: ToolhostConfig): NetworkPolicy {
  return {
    allow: config.REEVE_NETWORK_ALLOW,
    ranges: config.REEVE_NETWORK_RANGES,
    maxBytes: config.REEVE_NETWORK_MAX_BYTES,
  };
}
