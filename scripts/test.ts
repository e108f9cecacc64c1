/**
 * All tests: `npm test`. Runs the quick gate and every suite, whatever fails, and prints as its last line
 * `N passed, N failed, N skipped`. The exit code is 0 only when nothing failed.
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import type { Tally } from "./test-tally.ts";
import { addTallies, describeTally, tallyOf } from "./test-tally.ts";

const root = dirname(import.meta.dirname);
const folder = mkdtempSync(join(tmpdir(), "reeve-test-"));
try {
  await imageOfSandboxes();
  const tallies = [await gate(), await vitest("unit"), await vitest("system")];
  const total = addTallies(tallies);
  process.exitCode = total.failed > 0 ? 1 : 0;
  console.log(describeTally(total));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Makes the image of docker sandboxes where an engine is named that has none. What needs it fails by itself if that fails. */
async function imageOfSandboxes(): Promise<void> {
  if (process.env["DOCKER_HOST"] === undefined) return;
  const image = process.env["REEVE_SANDBOX_IMAGE"] ?? "reeve-sandbox:latest";
  const { status } = spawnSync("docker", ["image", "inspect", image], { stdio: "ignore" });
  if (status !== 0) await run(["scripts/sandbox-image.ts", image]);
}

/** The gate counts as one failed test when it fails, and as none when it passes. */
async function gate(): Promise<Tally> {
  const code = await run(["scripts/check.ts"]);
  return { passed: 0, failed: code === 0 ? 0 : 1, skipped: 0 };
}

async function vitest(project: string): Promise<Tally> {
  const report = join(folder, `${project}.json`);
  const code = await run([
    "node_modules/vitest/vitest.mjs",
    "run",
    "--project",
    project,
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${report}`,
  ]);
  return tallyOf(readReport(report), code);
}

function readReport(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    // A runner that fell over wrote none; its exit code speaks.
    return undefined;
  }
}

function run(args: readonly string[]): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const child = spawn(process.execPath, args, { cwd: root, stdio: "inherit" });
  child.on("error", () => resolve(1));
  child.on("exit", (code) => resolve(code ?? 1));
  return promise;
}
