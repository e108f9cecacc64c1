import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { chown, lstat, mkdir, open, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Workspace } from "@reeve/contracts/tool";
import type { ArtifactStore } from "@reeve/store/artifact-store";
import type { SandboxUser } from "./bubblewrap/bubblewrap-sandbox.ts";

/** Where workspaces are kept when root runs the toolhost below a folder that the user of the sandboxes cannot enter. */
const publicRoot = "/var/lib/reeve";

/** The folders of runs on this host. */
export interface Workspaces {
  /** Folder for what belongs to the host itself. */
  readonly root: string;
  /**
   * The folder of a run, made on its first use with the files that the run was given. Nothing untrusted has run in it
   * before they all are there.
   */
  ready(tenant: string, workspace: Workspace, signal: AbortSignal): Promise<string>;
}

export async function openWorkspaces(
  dataDir: string,
  user: SandboxUser | undefined,
  artifacts: ArtifactStore,
): Promise<Workspaces> {
  const root = await rootOf(resolve(dataDir), user);
  await mkdir(root, { recursive: true, mode: 0o711 });
  const preparing = new Map<string, Promise<string>>();
  return {
    root,
    async ready(tenant, workspace, signal) {
      const folder = join(root, tenant, workspace.id);
      const known = preparing.get(folder);
      if (known !== undefined) return await known;
      const prepared = prepare(folder, { tenant, workspace, user, artifacts }, signal);
      preparing.set(folder, prepared);
      try {
        return await prepared;
      } finally {
        preparing.delete(folder);
      }
    },
  };
}

interface Preparation {
  readonly tenant: string;
  readonly workspace: Workspace;
  readonly user: SandboxUser | undefined;
  readonly artifacts: ArtifactStore;
}

async function prepare(
  folder: string,
  { tenant, workspace, user, artifacts }: Preparation,
  signal: AbortSignal,
): Promise<string> {
  // Beside the folder, where nothing in a sandbox can write.
  const marker = `${folder}.ready`;
  if (await exists(marker)) return folder;
  await mkdir(dirname(folder), { recursive: true, mode: 0o711 });
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { mode: 0o700 });
  const own = async (path: string) => {
    if (user !== undefined) await chown(path, user.uid, user.gid);
  };
  for (const { artifactId, path } of workspace.files) {
    const parts = path.split("/");
    for (let depth = 1; depth < parts.length; depth++) {
      const parent = join(folder, ...parts.slice(0, depth));
      await mkdir(parent, { recursive: true, mode: 0o755 });
      await own(parent);
    }
    const target = join(folder, ...parts);
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    await using file = await open(target, flags, 0o644);
    for await (const chunk of artifacts.read(tenant, artifactId, signal)) await file.write(chunk);
    await own(target);
  }
  await own(folder);
  await writeFile(marker, "");
  return folder;
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch {
    return false;
  }
}

/** Below the data folder, if the user of the sandboxes can get there. */
async function rootOf(dataDir: string, user: SandboxUser | undefined): Promise<string> {
  const wanted = join(dataDir, "workspaces");
  if (user === undefined || (await isPassable(dataDir))) return wanted;
  const name = createHash("sha256").update(dataDir).digest("hex").slice(0, 12);
  return join(publicRoot, `workspaces-${name}`);
}

async function isPassable(folder: string): Promise<boolean> {
  await mkdir(folder, { recursive: true, mode: 0o711 });
  for (let path = folder; ; path = dirname(path)) {
    const { mode } = await lstat(path);
    if ((mode & 0o001) === 0) return false;
    if (path === dirname(path)) return true;
  }
}
