// Runs during an image build: compiles the modules that each program loads at its start into NODE_COMPILE_CACHE.
import { execFileSync, spawnSync } from "node:child_process";
import process from "node:process";

// A setting that no service accepts: it ends with exit code 2 once all of its modules are loaded.
const env = { ...process.env, REEVE_LOG_LEVEL: "none" };
for (const service of ["gateway", "runtime", "toolhost", "approvals"]) {
  const main = `programs/${service}.mjs`;
  const { status, stderr } = spawnSync(process.execPath, [main], { env, encoding: "utf8" });
  if (status !== 2) throw new Error(`${main} ended with ${status}, not with 2: ${stderr}`);
}
execFileSync(process.execPath, ["programs/reeve.mjs", "--version"], { stdio: "inherit" });
