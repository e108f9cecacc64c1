import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { Logger } from "@reeve/platform/logger";
import type { ArtifactStore } from "@reeve/store/artifact-store";
import { editFile } from "../app/tools/edit-file.ts";
import { executeCode } from "../app/tools/execute-code.ts";
import { readFile, writeFileTool } from "../app/tools/files.ts";
import { publishReport } from "../app/tools/publish-report.ts";
import { runCommand } from "../app/tools/run-command.ts";
import { globFiles, grepFiles, listFiles } from "../app/tools/search-files.ts";
import type { ToolhostConfig } from "../config.ts";
import type { SandboxDriver } from "../ports/sandbox.ts";
import { defaultLimits } from "../ports/sandbox.ts";
import type { Tool } from "../ports/tool.ts";
import type { Workspaces } from "../ports/workspaces.ts";
import { BubblewrapDriver } from "./bubblewrap/bubblewrap-driver.ts";
import { sandboxIdentity } from "./bubblewrap/identity.ts";
import { chooseDriver } from "./choose-driver.ts";
import { DockerDriver } from "./docker/docker-driver.ts";
import { HostWorkspaces } from "./host-workspaces.ts";
import { SessionSandboxes } from "./session-sandboxes.ts";
import { SpareSandboxes } from "./spare-sandboxes.ts";
import { KubernetesDriver } from "./kubernetes/kubernetes-driver.ts";
import { UnsafeLocalDriver } from "./unsafe-local/unsafe-local-driver.ts";
import { WarmSandboxes } from "./warm-sandboxes.ts";
import { workspaceRoot } from "./workspace-root.ts";

/** A container takes long to start; two that wait hide that from runs that begin one after the other. */
const dockerSpares = 2;

/** What this host has to execute foreign code, if it has. */
export interface Sandboxes extends AsyncDisposable {
  readonly isolation: string;
  readonly tools: readonly Tool[];
  readonly workspaces: Workspaces;
  /** What makes the sandboxes. Absent: there are none. */
  readonly driver?: SandboxDriver;
}

export interface SandboxesOptions {
  readonly config: ToolhostConfig;
  readonly artifacts: ArtifactStore;
  readonly log: Logger;
}

/**
 * Finds the isolation of this host. Without one there are no tools that need it: the log says what was tried and what
 * would help.
 */
export async function openSandboxes(
  { config, artifacts, log }: SandboxesOptions,
  signal: AbortSignal,
): Promise<Sandboxes> {
  const identity = sandboxIdentity(config.REEVE_SANDBOX_UID);
  const isKubernetes = config.REEVE_SANDBOX === "kubernetes";
  const drivers = [
    new KubernetesDriver({
      // A configuration that lies about is nobody's wish to have pods there.
      kubeconfig: isKubernetes ? config.KUBECONFIG : undefined,
      isInside: config.KUBERNETES_SERVICE_HOST !== undefined,
      namespace: config.REEVE_SANDBOX_NAMESPACE,
      image: config.REEVE_SANDBOX_IMAGE,
      runtimeClass: config.REEVE_SANDBOX_RUNTIME,
      warmPool: config.REEVE_SANDBOX_WARM_POOL,
    }),
    new DockerDriver({
      identity,
      address: config.DOCKER_HOST,
      image: config.REEVE_SANDBOX_IMAGE,
      runtime: config.REEVE_SANDBOX_RUNTIME,
      probeDir: () => workspaceRoot(config.REEVE_DATA_DIR, identity),
    }),
    new BubblewrapDriver(identity),
    new UnsafeLocalDriver(identity),
  ];
  const choice = await chooseDriver(config.REEVE_SANDBOX, drivers, log, signal);
  if (choice.driver === undefined) {
    const isolation = "none";
    return {
      isolation,
      tools: [],
      workspaces: noWorkspaces(choice.refusal),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  }
  const root = workspaceRoot(config.REEVE_DATA_DIR, identity);
  const markers = resolve(config.REEVE_DATA_DIR, "laid");
  mkdirSync(markers, { recursive: true, mode: 0o700 });
  await using opening = new AsyncDisposableStack();
  const count = sparesOf(choice.driver, config);
  const isBrought = count > 0;
  const { memoryBytes, processes } = defaultLimits;
  const driver = isBrought
    ? opening.use(
        new SpareSandboxes(choice.driver, {
          count,
          wishes: { readOnly: false, memoryBytes, processes },
          folder: join(root, ".spare"),
          identity,
          log,
        }),
      )
    : choice.driver;
  const idleMs = config.REEVE_SANDBOX_IDLE_MS;
  const warm =
    choice.driver.keepsWorkspace === "session"
      ? new SessionSandboxes(driver, { idleMs })
      : new WarmSandboxes(driver, { idleMs, mostIdle: config.REEVE_SANDBOX_MOST_IDLE });
  opening.use(warm);
  const resources = opening.move();
  return {
    isolation: driver.name,
    driver,
    tools: [
      executeCode,
      runCommand,
      readFile,
      writeFileTool,
      editFile,
      listFiles,
      globFiles,
      grepFiles,
      publishReport(artifacts, config.REEVE_MAX_ARTIFACT_BYTES),
    ],
    workspaces: new HostWorkspaces({ root, markers, identity, isBrought }, warm, artifacts),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** Of what keeps its workspace to itself no spare can be given another's folder. */
function sparesOf({ name, keepsWorkspace }: SandboxDriver, config: ToolhostConfig): number {
  if (keepsWorkspace === "session") return 0;
  return config.REEVE_SANDBOX_SPARE ?? (name === "docker" ? dockerSpares : 0);
}

function noWorkspaces(refusal: string): Workspaces {
  return {
    open: () => Promise.reject(new Failure("unavailable", ErrorReason.UNAVAILABLE, refusal)),
  };
}
