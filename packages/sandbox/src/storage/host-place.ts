import { existsSync } from "node:fs";
import { readdir, rmdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { clearWorkspace } from "../files/workspace-archive.ts";
import type { Sandbox } from "../port.ts";
import type { PlacedFolder, WorkspacePlace } from "./workspace-place.ts";
import type { Identity } from "../host/identity.ts";
import type { WarmSandboxes } from "../lifecycle/warm-sandboxes.ts";
import { makeWorkspace, workspaceIn } from "../host/workspace-folder.ts";
import { privateFolder } from "../host/workspace-root.ts";

export interface HostPlaceOptions {
  /** Names the data folder, see `placeId`. */
  readonly id: string;
  /** The folder of all workspaces. */
  readonly root: string;
  readonly identity: Identity;
  /** Whether sandboxes bring the files of a new workspace, or make their folder. Absent: it is made here. */
  readonly isBrought?: boolean;
}

/** Workspaces in folders of this host, below one for each tenant, which sandboxes see as they are. */
export class HostPlace implements WorkspacePlace {
  readonly id: string;
  readonly isolation: string;
  readonly #root: string;
  readonly #identity: Identity;
  readonly #isBrought: boolean;
  readonly #sandboxes: Pick<WarmSandboxes, "over" | "cool">;

  constructor(
    { id, root, identity, isBrought = false }: HostPlaceOptions,
    sandboxes: Pick<WarmSandboxes, "over" | "cool" | "isolation">,
  ) {
    this.id = id;
    this.isolation = sandboxes.isolation;
    this.#root = root;
    this.#identity = identity;
    this.#isBrought = isBrought;
    this.#sandboxes = sandboxes;
  }

  has(tenant: string, folder: string): boolean {
    return existsSync(join(this.#root, tenant, folder));
  }

  /** A workspace whose files nobody has brought yet is empty as well. */
  async isEmpty(tenant: string, folder: string): Promise<boolean> {
    const workspaceDir = workspaceIn(join(this.#root, tenant, folder));
    const names = await readdir(workspaceDir).catch((error: unknown) =>
      codeOf(error) === "ENOENT" && this.has(tenant, folder) ? [] : undefined,
    );
    return names?.length === 0;
  }

  sandbox(tenant: string, folder: string): Sandbox {
    const path = join(privateFolder(join(this.#root, tenant), this.#identity), folder);
    const workspaceDir = workspaceIn(path);
    // It is there at once, and holds nothing until the files are: those of a spare sandbox take its place.
    if (this.#isBrought) privateFolder(path, this.#identity);
    else makeWorkspace(workspaceDir, this.#identity);
    return this.#sandboxes.over(workspaceDir);
  }

  /** What foreign code has made is taken away inside a sandbox; here only the empty folders are. */
  async remove(tenant: string, folder: string, signal: AbortSignal): Promise<void> {
    if (!this.has(tenant, folder)) return;
    const path = join(this.#root, tenant, folder);
    const workspaceDir = workspaceIn(path);
    if (!(await this.isEmpty(tenant, folder))) {
      await clearWorkspace(this.#sandboxes.over(workspaceDir), signal);
    }
    await this.#sandboxes.cool(workspaceDir);
    for (const each of [workspaceDir, path]) {
      await rmdir(each).catch((error: unknown) => {
        if (codeOf(error) !== "ENOENT") throw error;
      });
    }
  }

  async list(): Promise<readonly PlacedFolder[]> {
    const found: PlacedFolder[] = [];
    for (const tenant of await readdir(this.#root)) {
      // No tenant has a name with a dot: what has one belongs to the sandboxes.
      if (tenant.includes(".")) continue;
      for (const folder of await readdir(join(this.#root, tenant)).catch(() => [])) {
        const at = await stat(join(this.#root, tenant, folder)).catch(() => undefined);
        if (at?.isDirectory() === true) found.push({ tenant, folder, changedMs: at.mtimeMs });
      }
    }
    return found;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
