import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const source = pathToFileURL(join(import.meta.dirname, "keep-compiled-modules.ts"));
const imported = `import { keepCompiledModules } from ${JSON.stringify(source)};`;

/** Runs a process that imports this module, and kills it. Returns how many files its compile cache has. */
async function filesKeptBy(use: string): Promise<number> {
  const cache = mkdtempSync(join(tmpdir(), "reeve-compiled-"));
  onTestFinished(() => rmSync(cache, { recursive: true, force: true }));
  const program = `${imported} ${use}; console.log("ready"); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    env: { NODE_COMPILE_CACHE: cache },
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
  return readdirSync(cache, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  ).length;
}

test("what a process has compiled outlives its kill", async () => {
  // Node itself stores sources without their types at once.
  const others = await filesKeptBy("");
  expect(await filesKeptBy("keepCompiledModules()")).toBeGreaterThan(others);
});

test("a process without a compile cache keeps nothing", () => {
  const program = `${imported} keepCompiledModules();`;
  const { status } = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
    env: {},
  });
  expect(status).toBe(0);
});
