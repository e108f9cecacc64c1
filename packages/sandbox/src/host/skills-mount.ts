import { lchownSync, lstatSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { Identity } from "./identity.ts";

/** The folder of skills in a workspace. */
const skillsFolder = "skills";
/** Where a sandbox has the skills. */
export const skillsMount = `/workspace/${skillsFolder}`;

/**
 * Creates the folder of a workspace over which skills are mounted: a read-only workspace could not create it inside the sandbox. Code of
 * earlier calls controls the workspace, so no link is followed. Returns what identifies the folder. Throws a Failure if the workspace has
 * something else of that name.
 */
export function makeSkillsMountPoint(workspaceDir: string, identity: Identity): string {
  const path = join(workspaceDir, skillsFolder);
  try {
    mkdirSync(path, { mode: 0o755 });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    const existing = skillsMountPointOf(workspaceDir);
    if (existing === undefined) throw isNoFolder();
    return existing;
  }
  if (identity.isDedicated) lchownSync(path, identity.uid, identity.gid);
  const made = skillsMountPointOf(workspaceDir);
  if (made === undefined) throw isNoFolder();
  return made;
}

/**
 * Identifies the folder over which skills are mounted. A command without skills may replace it, and then the mount of sandboxes that run is
 * gone, or elsewhere. Undefined: the workspace has no such folder.
 */
export function skillsMountPointOf(workspaceDir: string): string | undefined {
  const path = join(workspaceDir, skillsFolder);
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (found?.isDirectory() !== true) return undefined;
  // File systems use the numbers of deleted folders again.
  return `${found.dev}:${found.ino}:${found.birthtimeNs}`;
}

function isNoFolder(): Failure {
  const message = `the workspace has an entry "${skillsFolder}" that is no folder, and the skills of the agent are mounted there; rename it with an agent without skills, or remove the skills of the agent`;
  return new Failure("precondition", ErrorReason.INVALID_REQUEST, message);
}
