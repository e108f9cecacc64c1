import { chownSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Identity } from "./identity.ts";
import { privateFolder } from "./workspace-root.ts";

const name = "files";

/** Where sandboxes find the files of a workspace, below a folder that is the toolhost's own and never empty. */
export function workspaceDirIn(folder: string): string {
  return join(folder, name);
}

/** Makes the folder of a workspace, and the one above it, unless they are there. */
export function makeWorkspaceDir(workspaceDir: string, identity: Identity): void {
  privateFolder(dirname(workspaceDir), identity);
  try {
    mkdirSync(workspaceDir, { mode: 0o700 });
  } catch (error) {
    // Somebody else has made it, or has put that of a spare sandbox here.
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return;
    throw error;
  }
  if (identity.isDedicated) chownSync(workspaceDir, identity.uid, identity.gid);
}
