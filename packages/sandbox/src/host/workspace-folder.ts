import { chownSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Identity } from "./identity.ts";
import { privateFolder } from "./workspace-root.ts";

const name = "files";

/**
 * Returns the folder with the files of a workspace. Sandboxes mount it; its parent belongs to the toolhost and is never
 * empty.
 */
export function workspaceDirIn(folder: string): string {
  return join(folder, name);
}

/** Creates the folder of a workspace and its parent, if they do not exist. */
export function makeWorkspaceDir(workspaceDir: string, identity: Identity): void {
  privateFolder(dirname(workspaceDir), identity);
  try {
    mkdirSync(workspaceDir, { mode: 0o700 });
  } catch (error) {
    // Another party created it, or renamed the folder of a spare sandbox to it.
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return;
    throw error;
  }
  if (identity.isDedicated) chownSync(workspaceDir, identity.uid, identity.gid);
}
