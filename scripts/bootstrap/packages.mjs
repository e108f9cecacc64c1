import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { findNode, linkNode } from "./node.mjs";

/**
 * Installs the npm packages of `package-lock.json`, the pinned Node among them, unless they are installed already. To find
 * out takes milliseconds: a stamp in `node_modules` holds the digest of the lockfile. Returns a problem to report, or
 * undefined.
 */
export async function ensurePackages(root) {
  const lock = join(root, "package-lock.json");
  const digest = createHash("sha256").update(readFileSync(lock)).digest("hex");
  const stamp = join(root, "node_modules", ".reeve-stamp");
  if (!isInstalled(root, lock, stamp, digest)) {
    console.error("installing the npm packages of package-lock.json …");
    const { code, output } = await npmCi(root);
    if (code !== 0) {
      console.error(output);
      return "npm ci could not install the packages (see above); the first start needs the npm registry";
    }
  }
  if (findNode(root) === undefined) {
    return `no Node is pinned for ${process.platform} ${process.arch}: install Node 24 or later`;
  }
  linkNode(root);
  writeFileSync(stamp, digest);
  return undefined;
}

function isInstalled(root, lock, stamp, digest) {
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === digest) return true;
  // After an installation by hand there is no stamp, but npm leaves a lockfile of what it installed.
  const installed = join(root, "node_modules", ".package-lock.json");
  return existsSync(installed) && hasAllOf(packagesIn(lock), packagesIn(installed));
}

function packagesIn(lock) {
  return JSON.parse(readFileSync(lock, "utf8")).packages;
}

/** Whether each package is installed in its version. Optional ones are for other platforms. The one without a name is the workspace. */
function hasAllOf(wanted, installed) {
  return Object.entries(wanted).every(
    ([path, { version, optional }]) =>
      path === "" ||
      optional === true ||
      (path in installed && installed[path].version === version),
  );
}

function npmCi(root) {
  const path = process.env.npm_execpath;
  const [command, ...first] = path?.endsWith(".js") ? [process.execPath, path] : ["npm"];
  return new Promise((resolve) => {
    // `npm --silent test` hands its log level down, and would hide the reason of a failure.
    // The default delays would leave a machine without a network silent for minutes.
    const retries = [
      "--fetch-retries=2",
      "--fetch-retry-mintimeout=1000",
      "--fetch-retry-maxtimeout=5000",
    ];
    const child = spawn(command, [...first, "ci", "--loglevel=warn", ...retries], {
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
