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
/** What is said where a folder is that holds something. */
const taken = new Set<unknown>(["ENOTEMPTY", "EEXIST"]);

/**
 * Empty workspaces that wait for their run. A sandbox is made over one, and keeps it when it is renamed to where the
 * workspace of a run is to lie: a mount holds the folder itself, not its path.
 */
export class SpareFolders {
  readonly #root: string;
  readonly #identity: Identity;
  readonly #own = new Set<string>();

  /** `root` lies on the file system of the workspaces, out of reach of their names. */
  constructor(root: string, identity: Identity) {
    this.#root = root;
    this.#identity = identity;
  }

  /** Makes one; gives the path of its workspace. */
  make(): string {
    const name = [prefix, machineIdHash(), ownerName() ?? "0.0", randomBytes(6).toString("hex")];
    const folder = join(privateFolder(this.#root, this.#identity), name.join("~"));
    const workspaceDir = workspaceDirIn(folder);
    this.#own.add(folder);
    makeWorkspaceDir(workspaceDir, this.#identity);
    return workspaceDir;
  }

  /**
   * Puts one where the workspace of a run is to lie. False, and nothing has happened, when that workspace is there already,
   * whoever made it. The kernel decides between several that try: a folder that holds something is never replaced. Rejects
   * when it cannot be put there for another reason.
   */
  async moveTo(spareDir: string, workspaceDir: string): Promise<boolean> {
    try {
      await rename(dirname(spareDir), dirname(workspaceDir));
    } catch (error) {
      if (error instanceof Error && "code" in error && taken.has(error.code)) return false;
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

  /** All that there are on this machine, and whether they are left over. */
  async list(): Promise<readonly SessionRecord[]> {
    const names = existsSync(this.#root) ? await readdir(this.#root) : [];
    return names.flatMap((sessionId) => {
      const [kind, machine, owner = ""] = sessionId.split("~");
      if (kind !== prefix || machine !== machineIdHash()) return [];
      const isLost = owner === ownerName() && !this.#own.has(join(this.#root, sessionId));
      return [{ sessionId, isOrphan: isLost || isOwnerGone(owner) }];
    });
  }

  /** Takes one away that is left over. False: it is no name of one. */
  async destroy(sessionId: string): Promise<boolean> {
    if (!sessionId.startsWith(`${prefix}~`) || sessionId.includes("/")) return false;
    await rm(join(this.#root, sessionId), { recursive: true, force: true });
    return true;
  }
}
