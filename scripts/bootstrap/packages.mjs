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
    const problem = await install(root);
    if (problem !== undefined) return problem;
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

async function install(root) {
  const exact = await npm(root, ["ci"]);
  if (exact.code === 0) return undefined;
  // A lock that was written where only this platform's optional packages could be had refuses a clean installation. An
  // installation that leaves the lock alone still takes every version from it.
  const isIncomplete = exact.output.includes("EUSAGE");
  const { code, output } = isIncomplete ? await npm(root, ["install", "--no-save"]) : exact;
  if (code === 0) return undefined;
  console.error(output);
  return "the npm packages could not be installed (see above); run: npm install";
}

function npm(root, args) {
  const path = process.env.npm_execpath;
  const [command, ...first] = path?.endsWith(".js") ? [process.execPath, path] : ["npm"];
  return new Promise((resolve) => {
    // Whoever called us may have silenced npm, and its words decide what comes next.
    const quiet = ["--no-fund", "--no-audit", "--loglevel=warn"];
    const child = spawn(command, [...first, ...args, ...quiet], {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk) => (output += chunk.toString()));
    }
    child.on("error", (error) => resolve({ code: 127, output: error.message }));
    child.on("close", (code) => resolve({ code: code ?? 1, output }));
  });
}
