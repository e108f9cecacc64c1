import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { SessionRecord } from "../port.ts";
import type { Identity } from "./identity.ts";
import { isOwnerGone, machineIdHash, ownerName } from "./owner.ts";
import { makeWorkspaceDir, workspaceDirIn } from "./workspace-folder.ts";
import { privateFolder } from "./workspace-root.ts";

const prefix = "spare-folder";
/** Errors of a rename onto a folder that is not empty. */
const notEmpty = new Set<unknown>(["ENOTEMPTY", "EEXIST"]);

/**
 * Creates empty workspaces for sandboxes that wait for a run. A sandbox started over one keeps it when it is renamed to the
 * workspace of the run, because a mount refers to the folder and not to its path.
 */
export class SpareFolders {
  readonly #root: string;
  readonly #identity: Identity;
  readonly #own = new Set<string>();

  /** `root` must be on the file system of the workspaces, and must not collide with the name of a tenant. */
  constructor(root: string, identity: Identity) {
    this.#root = root;
    this.#identity = identity;
  }

  /** Creates a folder and returns the path of its workspace. */
  make(): string {
    const name = [prefix, machineIdHash(), ownerName() ?? "0.0", randomBytes(6).toString("hex")];
    const folder = join(privateFolder(this.#root, this.#identity), name.join("~"));
    const workspaceDir = workspaceDirIn(folder);
    this.#own.add(folder);
    makeWorkspaceDir(workspaceDir, this.#identity);
    return workspaceDir;
  }

  /**
   * Renames a spare folder to the workspace of a run. Returns false and changes nothing if that workspace already exists.
   * The rename is atomic and never replaces a folder with content, so only one of several concurrent callers succeeds.
   * Rejects for any other error.
   */
  async moveTo(spareDir: string, workspaceDir: string): Promise<boolean> {
    try {
      await rename(dirname(spareDir), dirname(workspaceDir));
    } catch (error) {
      if (error instanceof Error && "code" in error && notEmpty.has(error.code)) return false;
      throw error;
    }
    this.#own.delete(dirname(spareDir));
    return true;
  }

  async remove(spareDir: string): Promise<void> {
    const folder = dirname(spareDir);
    await rm(folder, { recursive: true, force: true });
    this.#own.delete(folder);
  }

  /** Returns all spare folders of this machine, and whether their creator is gone. */
  async list(): Promise<readonly SessionRecord[]> {
    const names = existsSync(this.#root) ? await readdir(this.#root) : [];
    return names.flatMap((sessionId) => {
      const [kind, machine, owner = ""] = sessionId.split("~");
      if (kind !== prefix || machine !== machineIdHash()) return [];
      const isLost = owner === ownerName() && !this.#own.has(join(this.#root, sessionId));
      return [{ sessionId, isOrphan: isLost || isOwnerGone(owner) }];
    });
  }

  /** Deletes a spare folder. Returns false if the id is not that of a spare folder. */
  async destroy(sessionId: string): Promise<boolean> {
    if (!sessionId.startsWith(`${prefix}~`) || sessionId.includes("/")) return false;
    await rm(join(this.#root, sessionId), { recursive: true, force: true });
    return true;
  }
}
