import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

/**
 * Makes sure that the npm packages of `package-lock.json` are installed, the pinned Node among them. Quick when they are:
 * compares a stamp with the lock. Returns what went wrong, or undefined.
 */
export async function ensurePackages(root) {
  const lock = join(root, "package-lock.json");
  const wanted = createHash("sha256").update(readFileSync(lock)).digest("hex");
  const stamp = join(root, "node_modules", ".reeve-stamp");
  if (!isInstalled(root, lock, stamp, wanted)) {
    console.error("installing the npm packages of package-lock.json …");
    const code = await npmCi(root);
    if (code !== 0) {
      return `npm ci ended with code ${code}: look at its messages above, then run: npm ci`;
    }
  }
  const pinned = join(root, "node_modules", ".bin", "node");
  if (!existsSync(pinned)) {
    return "the pinned Node is missing: its package needs its install script; run: npm ci --ignore-scripts=false";
  }
  writeFileSync(stamp, wanted);
  return undefined;
}

function isInstalled(root, lock, stamp, wanted) {
  if (!existsSync(join(root, "node_modules", ".bin", "node"))) return false;
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return true;
  // Somebody installed by hand: npm leaves a lock of what it installed.
  const installed = join(root, "node_modules", ".package-lock.json");
  return existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs;
}

function npmCi(root) {
  const npm = process.env.npm_execpath;
  const [command, ...args] = npm?.endsWith(".js") ? [process.execPath, npm] : ["npm"];
  return new Promise((resolve) => {
    // Its words go to stderr, so that stdout stays the command's.
    const child = spawn(command, [...args, "ci", "--no-fund", "--no-audit"], {
      cwd: root,
      stdio: ["ignore", process.stderr, process.stderr],
    });
    child.on("error", () => resolve(127));
    child.on("exit", (code) => resolve(code ?? 1));
  });
}
