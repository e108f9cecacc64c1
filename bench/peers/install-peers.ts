import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import process from "node:process";

const files = ["package.json", "package-lock.json"] as const;

/**
 * Installs the packages of the peers, as their lock pins them, into a folder of the user's cache, and returns it. They are no
 * dependencies of the workspace: nothing else needs them.
 */
export function installPeers(): string {
  const digest = createHash("sha256");
  for (const file of files) digest.update(readFileSync(join(import.meta.dirname, file)));
  const cache = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
  const folder = join(cache, "reeve", `peers-${digest.digest("hex").slice(0, 16)}`);
  if (!existsSync(folder)) {
    const draft = `${folder}.${process.pid}`;
    try {
      mkdirSync(draft, { recursive: true });
      for (const file of files) cpSync(join(import.meta.dirname, file), join(draft, file));
      const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
      execFileSync("npm", args, { cwd: draft, stdio: ["ignore", "inherit", "inherit"] });
      renameSync(draft, folder);
    } finally {
      rmSync(draft, { recursive: true, force: true });
    }
  }
  // Modules find the packages in the folder of their own file.
  cpSync(join(import.meta.dirname, "servers"), join(folder, "servers"), { recursive: true });
  return folder;
}
