import { chownSync, existsSync, mkdirSync } from "node:fs";
import { readdir, rmdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { clearWorkspace } from "../app/workspace-archive.ts";
import type { Sandbox } from "../ports/sandbox.ts";
import type { PlacedFolder, WorkspacePlace } from "../ports/workspace-place.ts";
import type { Identity } from "./bubblewrap/identity.ts";
import type { WarmSandboxes } from "./warm-sandboxes.ts";
import { privateFolder } from "./workspace-root.ts";

export interface HostPlaceOptions {
  /** Names the data folder, see `placeId`. */
  readonly id: string;
  /** The folder of all workspaces. */
  readonly root: string;
  readonly identity: Identity;
}

/** Workspaces in folders of this host, below one for each tenant, which sandboxes see as they are. */
export class HostPlace implements WorkspacePlace {
  readonly id: string;
  readonly isolation: string;
  readonly #root: string;
  readonly #identity: Identity;
  readonly #sandboxes: Pick<WarmSandboxes, "over" | "cool">;

  constructor(
    { id, root, identity }: HostPlaceOptions,
    sandboxes: Pick<WarmSandboxes, "over" | "cool" | "isolation">,
  ) {
    this.id = id;
    this.isolation = sandboxes.isolation;
    this.#root = root;
    this.#identity = identity;
    this.#sandboxes = sandboxes;
  }

  has(tenant: string, folder: string): boolean {
    return existsSync(join(this.#root, tenant, folder));
  }

  async isEmpty(tenant: string, folder: string): Promise<boolean> {
    const names = await readdir(join(this.#root, tenant, folder)).catch(() => undefined);
    return names?.length === 0;
  }

  sandbox(tenant: string, folder: string): Sandbox {
    const path = join(privateFolder(join(this.#root, tenant), this.#identity), folder);
    try {
      mkdirSync(path, { mode: 0o700 });
      const { uid, gid, isDedicated } = this.#identity;
      if (isDedicated) chownSync(path, uid, gid);
    } catch (error) {
      if (codeOf(error) !== "EEXIST") throw error;
    }
    return this.#sandboxes.over(path);
  }

  /** What foreign code has made is taken away inside a sandbox; here only the empty folder is. */
  async remove(tenant: string, folder: string, signal: AbortSignal): Promise<void> {
    if (!this.has(tenant, folder)) return;
    const path = join(this.#root, tenant, folder);
    if (!(await this.isEmpty(tenant, folder))) {
      await clearWorkspace(this.#sandboxes.over(path), signal);
    }
    await this.#sandboxes.cool(path);
    await rmdir(path).catch((error: unknown) => {
      if (codeOf(error) !== "ENOENT") throw error;
    });
  }

  async list(): Promise<readonly PlacedFolder[]> {
    const found: PlacedFolder[] = [];
    for (const tenant of await readdir(this.#root)) {
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
