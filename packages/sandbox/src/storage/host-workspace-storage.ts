import { existsSync } from "node:fs";
import { readdir, rmdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { clearWorkspace } from "../files/workspace-archive.ts";
import type { Sandbox } from "../port.ts";
import type { StoredWorkspace, WorkspaceStorage } from "./workspace-storage.ts";
import type { Identity } from "../host/identity.ts";
import type { WarmSandboxes } from "../lifecycle/warm-sandboxes.ts";
import { makeWorkspaceDir, workspaceDirIn } from "../host/workspace-folder.ts";
import { privateFolder } from "../host/workspace-root.ts";

export interface HostWorkspaceStorageOptions {
  /** Name of the data folder, see `storageId`. */
  readonly id: string;
  /** Folder of all workspaces. */
  readonly root: string;
  readonly identity: Identity;
  /** Whether sandboxes supply the `files` folder of a new workspace. Default: it is created here. */
  readonly hasSpares?: boolean;
}

/** Stores workspaces as `<root>/<tenant>/<folder>` on this host. Sandboxes mount these folders. */
export class HostWorkspaceStorage implements WorkspaceStorage {
  readonly id: string;
  readonly isolation: string;
  readonly #root: string;
  readonly #identity: Identity;
  readonly #hasSpares: boolean;
  readonly #sandboxes: Pick<WarmSandboxes, "sandboxFor" | "endIdle">;

  constructor(
    { id, root, identity, hasSpares = false }: HostWorkspaceStorageOptions,
    sandboxes: Pick<WarmSandboxes, "sandboxFor" | "endIdle" | "isolation">,
  ) {
    this.id = id;
    this.isolation = sandboxes.isolation;
    this.#root = root;
    this.#identity = identity;
    this.#hasSpares = hasSpares;
    this.#sandboxes = sandboxes;
  }

  has(tenant: string, folder: string): boolean {
    return existsSync(join(this.#root, tenant, folder));
  }

  /** A workspace without its `files` folder is empty as well. */
  async isEmpty(tenant: string, folder: string): Promise<boolean> {
    const workspaceDir = workspaceDirIn(join(this.#root, tenant, folder));
    const names = await readdir(workspaceDir).catch((error: unknown) =>
      codeOf(error) === "ENOENT" && this.has(tenant, folder) ? [] : undefined,
    );
    return names?.length === 0;
  }

  sandbox(tenant: string, folder: string): Sandbox {
    const path = join(privateFolder(join(this.#root, tenant), this.#identity), folder);
    const workspaceDir = workspaceDirIn(path);
    // The folder must exist at once. It stays empty: the folder of a spare sandbox is renamed over it.
    if (this.#hasSpares) privateFolder(path, this.#identity);
    else makeWorkspaceDir(workspaceDir, this.#identity);
    return this.#sandboxes.sandboxFor(workspaceDir);
  }

  /** Files that untrusted code created are deleted inside a sandbox; only the empty folders are deleted on the host. */
  async remove(tenant: string, folder: string, signal: AbortSignal): Promise<void> {
    if (!this.has(tenant, folder)) return;
    const path = join(this.#root, tenant, folder);
    const workspaceDir = workspaceDirIn(path);
    if (!(await this.isEmpty(tenant, folder))) {
      await clearWorkspace(this.#sandboxes.sandboxFor(workspaceDir), signal);
    }
    await this.#sandboxes.endIdle(workspaceDir);
    for (const each of [workspaceDir, path]) {
      await rmdir(each).catch((error: unknown) => {
        if (codeOf(error) !== "ENOENT") throw error;
      });
    }
  }

  async list(): Promise<readonly StoredWorkspace[]> {
    const found: StoredWorkspace[] = [];
    for (const tenant of await readdir(this.#root)) {
      // Tenant names have no dot: folders with one belong to the sandboxes.
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
