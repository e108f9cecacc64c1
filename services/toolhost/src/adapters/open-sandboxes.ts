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
import type { Tool } from "../ports/tool.ts";
import type { WorkspacePlace } from "../ports/workspace-place.ts";
import { BubblewrapDriver } from "./bubblewrap/bubblewrap-driver.ts";
import type { Identity } from "./bubblewrap/identity.ts";
import { sandboxIdentity } from "./bubblewrap/identity.ts";
import { chooseDriver } from "./choose-driver.ts";
import { DockerDriver } from "./docker/docker-driver.ts";
import { HostPlace } from "./host-place.ts";
import { placeId } from "./place-id.ts";
import { SessionPlace } from "./session-place.ts";
import { UnsafeLocalDriver } from "./unsafe-local/unsafe-local-driver.ts";
import { WarmSandboxes } from "./warm-sandboxes.ts";
import { workspaceRoot } from "./workspace-root.ts";

/** What this host has to execute foreign code, if it has. */
export interface Sandboxes extends AsyncDisposable {
  readonly isolation: string;
  readonly tools: readonly Tool[];
  /** Where workspaces lie. Absent: nowhere, because there are no sandboxes. */
  readonly place?: WorkspacePlace;
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
 * Finds the isolation of this host. Without one there are no tools that need it: the log says what was tried and what
 * would help.
 */
export async function openSandboxes(
  { config, artifacts, log }: SandboxesOptions,
  signal: AbortSignal,
): Promise<Sandboxes> {
  const identity = sandboxIdentity(config.REEVE_SANDBOX_UID);
  const drivers = [
    new DockerDriver({
      identity,
      address: config.DOCKER_HOST,
      image: config.REEVE_SANDBOX_IMAGE,
      probeDir: () => workspaceRoot(config.REEVE_DATA_DIR, identity),
    }),
    new BubblewrapDriver(identity),
    new UnsafeLocalDriver(identity),
  ];
  const choice = await chooseDriver(config.REEVE_SANDBOX, drivers, log, signal);
  const { driver } = choice;
  if (driver === undefined) {
    const isolation = "none";
    return {
      isolation,
      tools: [],
      refusal: choice.refusal,
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  }
  const { place, ...resources } = placeOf(driver, config, identity);
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
    place,
    ...resources,
  };
}

/** Where workspaces lie whose sandboxes a driver makes. */
function placeOf(
  driver: SandboxDriver,
  config: ToolhostConfig,
  identity: Identity,
): AsyncDisposable & { readonly place: WorkspacePlace } {
  const idleMs = config.REEVE_SANDBOX_IDLE_MS;
  if (driver.keepsWorkspace === "session") {
    const place = new SessionPlace(driver, { idleMs });
    return { place, [Symbol.asyncDispose]: () => place[Symbol.asyncDispose]() };
  }
  const root = workspaceRoot(config.REEVE_DATA_DIR, identity);
  const warm = new WarmSandboxes(driver, { idleMs, mostIdle: config.REEVE_SANDBOX_MOST_IDLE });
  const place = new HostPlace({ id: placeId(config.REEVE_DATA_DIR), root, identity }, warm);
  return { place, [Symbol.asyncDispose]: () => warm[Symbol.asyncDispose]() };
}
