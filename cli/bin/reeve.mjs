#!/usr/bin/env node
// Works on any Node. The command line itself needs Node 24 or later, which runs TypeScript.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import nodeModule, { createRequire } from "node:module";
import { constants, homedir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const major = Number(process.versions.node.split(".")[0]);
if (major >= 24) {
  keepCompiledModules();
  await import("../src/main.ts");
} else runWithPinnedNode();

/** Keeps compiled modules in the user's cache, so that the next command starts in half the time. Without one, nothing is kept. */
function keepCompiledModules() {
  try {
    const cache = process.env.XDG_CACHE_HOME || join(homedir(), ".cache");
    nodeModule.enableCompileCache(join(cache, "reeve", "compiled"));
  } catch {
    // This user has no home.
  }
}

function runWithPinnedNode() {
  const node = pinnedNode();
  if (node === undefined) {
    console.error(
      `reeve needs Node 24 or later, and this is ${process.version}; install Node 24, or reinstall with optional packages`,
    );
    process.exit(3);
  }
  const args = [fileURLToPath(import.meta.url), ...process.argv.slice(2)];
  const child = spawn(node, args, { stdio: "inherit" });
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  process.on("SIGINT", () => {
    // A terminal sends SIGINT to the child too.
    if (!process.stdin.isTTY) child.kill("SIGINT");
  });
  child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}

/** Returns the program of the package with Node, which is optional because it exists for Linux only. */
function pinnedNode() {
  try {
    const manifest = `node-linux-${process.arch}/package.json`;
    const path = join(dirname(createRequire(import.meta.url).resolve(manifest)), "bin/node");
    return existsSync(path) ? path : undefined;
  } catch {
    return undefined;
  }
}
