import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
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
import type { Tool } from "../ports/tool.ts";
import type { Workspaces } from "../ports/workspaces.ts";
import { BubblewrapDriver } from "./bubblewrap/bubblewrap-driver.ts";
import { sandboxIdentity } from "./bubblewrap/identity.ts";
import { HostWorkspaces } from "./host-workspaces.ts";
import { WarmSandboxes } from "./warm-sandboxes.ts";
import { workspaceRoot } from "./workspace-root.ts";

/** What this host has to execute foreign code, if it has. */
export interface Sandboxes extends AsyncDisposable {
  readonly isolation: string;
  readonly tools: readonly Tool[];
  readonly workspaces: Workspaces;
}

/**
 * Finds the isolation of this host. Without one there are no tools that need it: the log says what was tried and what
 * would help.
 */
export async function openSandboxes(
  {
    config,
    artifacts,
    log,
  }: {
    readonly config: ToolhostConfig;
    readonly artifacts: ArtifactStore;
    readonly log: Logger;
  },
  signal: AbortSignal,
): Promise<Sandboxes> {
  const identity = sandboxIdentity(config.REEVE_SANDBOX_UID);
  const driver = new BubblewrapDriver(identity);
  const report = await driver.probe(signal);
  if (!report.works) {
    const { reason, fixes } = report;
    log.warn({ driver: driver.name, reason, fixes }, "no sandbox works here; code does not run");
    return {
      isolation: "none",
      tools: [],
      workspaces: noWorkspaces,
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  }
  if (!report.bounds.memory) {
    log.info("no control groups may be made here; memory is bounded for each process by itself");
  }
  const root = workspaceRoot(config.REEVE_DATA_DIR, identity);
  const markers = resolve(config.REEVE_DATA_DIR, "laid");
  mkdirSync(markers, { recursive: true, mode: 0o700 });
  const warm = new WarmSandboxes(driver, {
    idleMs: config.REEVE_SANDBOX_IDLE_MS,
    mostIdle: config.REEVE_SANDBOX_MOST_IDLE,
  });
  const maxBytes = config.REEVE_MAX_ARTIFACT_BYTES;
  return {
    isolation: driver.name,
    tools: [
      executeCode,
      runCommand,
      readFile,
      writeFileTool,
      editFile,
      listFiles,
      globFiles,
      grepFiles,
      publishReport(artifacts, maxBytes),
    ],
    workspaces: new HostWorkspaces({ root, markers, identity }, warm, artifacts),
    [Symbol.asyncDispose]: () => warm[Symbol.asyncDispose](),
  };
}

const noWorkspaces: Workspaces = {
  open: () =>
    Promise.reject(
      new Failure("unavailable", ErrorReason.UNAVAILABLE, "this toolhost has no sandbox"),
    ),
};
