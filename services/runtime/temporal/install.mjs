/**
 * Installs what a runtime with REEVE_EXECUTOR=temporal needs: `node services/runtime/temporal/install.mjs FOLDER`. The folder, which
 * REEVE_TEMPORAL_SDK then names, gets the packages of Temporal, as the lock beside this file pins them, and the bundled workflow.
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import process from "node:process";

const here = import.meta.dirname;
const sources = join(here, "../src/executors/temporal");
const [folder] = process.argv.slice(2);
if (folder === undefined) {
  process.stderr.write("invalid usage; run: node install.mjs FOLDER\n");
  process.exit(2);
}

const target = resolve(folder);
const draft = `${target}.${process.pid}`;
mkdirSync(dirname(target), { recursive: true });
try {
  mkdirSync(draft);
  for (const file of ["package.json", "package-lock.json", "workflow.mjs"]) {
    cpSync(join(here, file), join(draft, file));
  }
  for (const file of ["carry-run.ts"]) cpSync(join(sources, file), join(draft, file));
  execFileSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], {
    cwd: draft,
    stdio: ["ignore", "inherit", "inherit"],
  });
  removeOtherPlatforms(join(draft, "node_modules/@temporalio/core-bridge/releases"));
  const { bundleWorkflowCode } = createRequire(join(draft, "package.json"))("@temporalio/worker");
  const quiet = {
    trace() {},
    debug() {},
    info() {},
    warn: complain,
    error: complain,
    log() {},
  };
  const workflowsPath = join(draft, "workflow.mjs");
  const { code } = await bundleWorkflowCode({ workflowsPath, logger: quiet });
  writeFileSync(join(draft, "workflow-bundle.js"), code);
  rmSync(target, { recursive: true, force: true });
  renameSync(draft, target);
} finally {
  rmSync(draft, { recursive: true, force: true });
}
process.stdout.write(`${target}\n`);

function complain(message) {
  process.stderr.write(`${message}\n`);
}

/** Each platform has a library of its own, of some 30 MB. */
function removeOtherPlatforms(releases) {
  const machine = { x64: "x86_64", arm64: "aarch64" }[process.arch] ?? process.arch;
  const system = { linux: "linux", darwin: "apple-darwin", win32: "windows" }[process.platform];
  const kept = readdirSync(releases).filter(
    (name) => name.startsWith(machine) && name.includes(system ?? process.platform),
  );
  if (kept.length === 0)
    throw new Error(`Temporal has no library for ${process.platform} ${process.arch}`);
  for (const name of readdirSync(releases)) {
    if (!kept.includes(name)) rmSync(join(releases, name), { recursive: true });
  }
}
