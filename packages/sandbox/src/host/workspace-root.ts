import { createHash } from "node:crypto";
import { chmodSync, chownSync, lstatSync, mkdirSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { Identity } from "./identity.ts";

/**
 * Returns the folder of all workspaces, and creates it. It is below the data folder if sandboxes can reach that; then their
 * group, and no other user, may pass through the data folder. The workspaces of an unreachable data folder, such as one below
 * /root, are in /var/lib/reeve.
 */
export function workspaceRoot(dataDir: string, identity: Identity): string {
  const data = resolve(dataDir);
  mkdirSync(data, { recursive: true, mode: 0o700 });
  if (!identity.isDedicated) return privateFolder(join(data, "workspaces"), identity);
  if (ancestors(data).every((folder) => isPassable(folder, identity))) {
    if (!isPassable(data, identity)) letPass(data, identity);
    return privateFolder(join(data, "workspaces"), identity);
  }
  const name = createHash("sha256").update(data).digest("hex").slice(0, 16);
  const base = privateFolder("/var/lib/reeve", identity);
  return privateFolder(join(base, `workspaces-${name}`), identity);
}

/**
 * Creates a folder that we own, through which sandboxes may pass and which no other user may list. Returns its path. Throws a
 * Failure if it exists and belongs to another user.
 */
export function privateFolder(path: string, identity: Identity): string {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const found = lstatSync(path);
  const own = process.geteuid?.() ?? -1;
  if (!found.isDirectory() || found.uid !== own) {
    throw new Failure(
      "precondition",
      ErrorReason.PERMISSION_DENIED,
      `${path} is not a folder owned by the toolhost; remove it`,
    );
  }
  if (identity.isDedicated) letPass(path, identity);
  return path;
}

/**
 * Lets sandboxes pass through a folder: changes root's group to the group of the sandboxes. A group that an operator chose
 * stays; then all users may pass.
 */
function letPass(path: string, { gid }: Identity): void {
  const { gid: group, mode } = statSync(path);
  if (group !== 0 && group !== gid) return chmodSync(path, (mode & 0o777) | 0o001);
  chownSync(path, -1, gid);
  chmodSync(path, (mode & 0o700) | 0o010);
}

function ancestors(path: string): readonly string[] {
  const above = dirname(path);
  return above === path ? [] : [above, ...ancestors(above)];
}

function isPassable(path: string, { uid, gid }: Identity): boolean {
  const found = statSync(path);
  if (found.uid === uid) return (found.mode & 0o100) !== 0;
  if (found.gid === gid) return (found.mode & 0o010) !== 0;
  return (found.mode & 0o001) !== 0;
}
