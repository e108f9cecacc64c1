import { mkdir, stat, writeFile as writeMarker } from "node:fs/promises";
import { join } from "node:path";
import type { WorkspaceFile } from "@reeve/contracts/tool";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { ArtifactStore } from "@reeve/store/artifact-store";
import { writeFile } from "../app/workspace-files.ts";
import type { Sandbox } from "../ports/sandbox.ts";
import type { Workspaces } from "../ports/workspaces.ts";
import type { Identity } from "./bubblewrap/identity.ts";
import type { WarmSandboxes } from "./warm-sandboxes.ts";
import { makeWorkspace, workspaceIn } from "./workspace-folder.ts";
import { privateFolder } from "./workspace-root.ts";

type Wanted = Parameters<Workspaces["open"]>[0];

export interface WorkspaceFolders {
  readonly root: string;
  readonly markers: string;
  readonly identity: Identity;
  /** Whether sandboxes bring the folder of a new workspace, or make it. Absent: it is made here. */
  readonly isBrought?: boolean;
}

/**
 * Workspaces in a folder of the host, one per run. That the files of a run are laid in is noted outside of its workspace,
 * where no sandbox can forge it; they are written by the sandbox itself, so that no link leads elsewhere.
 */
export class HostWorkspaces implements Workspaces {
  readonly #root: string;
  readonly #markers: string;
  readonly #identity: Identity;
  readonly #isBrought: boolean;
  readonly #sandboxes: Pick<WarmSandboxes, "over">;
  readonly #artifacts: ArtifactStore;
  readonly #laying = new Map<string, Promise<void>>();

  constructor(
    { root, markers, identity, isBrought = false }: WorkspaceFolders,
    sandboxes: Pick<WarmSandboxes, "over">,
    artifacts: ArtifactStore,
  ) {
    this.#root = root;
    this.#markers = markers;
    this.#identity = identity;
    this.#isBrought = isBrought;
    this.#sandboxes = sandboxes;
    this.#artifacts = artifacts;
  }

  async open(wanted: Wanted, signal: AbortSignal): Promise<Sandbox> {
    const { tenant, runId } = wanted;
    for (const name of [tenant, runId]) refuseUnlessName(name);
    const sandbox = this.#sandboxes.over(this.#folder(tenant, runId));
    const name = `${tenant}/${runId}`;
    // Calls of one run that begin together wait for one of them to lay the files in.
    const laying = this.#laying.get(name) ?? this.#layOnce(name, wanted, sandbox, signal);
    this.#laying.set(name, laying);
    try {
      await laying;
    } finally {
      this.#laying.delete(name);
    }
    return sandbox;
  }

  #folder(tenant: string, runId: string): string {
    const above = privateFolder(join(this.#root, tenant), this.#identity);
    const workspaceDir = workspaceIn(join(above, runId));
    if (!this.#isBrought) makeWorkspace(workspaceDir, this.#identity);
    return workspaceDir;
  }

  async #layOnce(
    name: string,
    { tenant, files }: Wanted,
    sandbox: Sandbox,
    signal: AbortSignal,
  ): Promise<void> {
    if (files.length === 0) return;
    const marker = join(this.#markers, name);
    const isLaid = await stat(marker).then(
      () => true,
      () => false,
    );
    if (isLaid) return;
    for (const file of files) await this.#lay(tenant, file, sandbox, signal);
    await mkdir(join(marker, ".."), { recursive: true, mode: 0o700 });
    await writeMarker(marker, "");
  }

  async #lay(
    tenant: string,
    { artifactId, path }: WorkspaceFile,
    sandbox: Sandbox,
    signal: AbortSignal,
  ): Promise<void> {
    if (path.startsWith("/") || path.split("/").includes("..")) {
      throw invalid(`the file path ${path} leads out of the workspace`);
    }
    const content = this.#artifacts.read(tenant, artifactId, signal);
    const outcome = await writeFile(sandbox, path, content, signal);
    if (outcome.kind === "refused")
      throw invalid(`${path} could not be laid in: ${outcome.reason}`);
  }
}

/** Names become folders, so they may hold nothing that means something in a path. */
function refuseUnlessName(name: string): void {
  if (!/^[A-Za-z0-9_-]+$/.test(name)) throw invalid(`"${name}" is not a name of a run or tenant`);
}

function invalid(message: string): Failure {
  return new Failure("invalid", ErrorReason.INVALID_REQUEST, message);
}
