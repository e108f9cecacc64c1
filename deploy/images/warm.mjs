// Runs during an image build: compiles the modules that each program loads at its start into NODE_COMPILE_CACHE, and then those that it
// loads where they are used.
import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import process from "node:process";

// A setting that no service accepts: it ends with exit code 2 once all of its modules are loaded.
const env = { ...process.env, REEVE_LOG_LEVEL: "none" };
const services = ["gateway", "runtime", "toolhost", "approvals"];
for (const service of services) {
  const main = `programs/${service}.mjs`;
  const { status, stderr } = spawnSync(process.execPath, [main], { env, encoding: "utf8" });
  if (status !== 2) throw new Error(`${main} ended with ${status}, not with 2: ${stderr}`);
}
execFileSync(process.execPath, ["programs/reeve.mjs", "--version"], { stdio: "inherit" });

// They are started with arguments by others, and act as soon as they are loaded.
const others = ["document-reader", "page-reader", "keys"];
const programs = new Set([...services, "reeve", ...others].map((name) => `${name}.mjs`));
const parts = readdirSync("programs").filter(
  (name) => name.endsWith(".mjs") && !programs.has(name),
);
// A part may need a package that the image does not have.
const load = parts.map((name) => `await import("./programs/${name}").catch(() => {});`).join("\n");
execFileSync(process.execPath, ["--input-type=module", "--eval", load], { env, stdio: "inherit" });
