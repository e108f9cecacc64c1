import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sandboxContract } from "./support/contract/sandbox-contract.ts";
import { testEngine } from "./support/docker-engine.ts";

const engine = await testEngine();
const hidden = [
  "/etc/shadow",
  "/etc/passwd",
  join(administratorHome(), ".bashrc"),
  "/home/user",
  "/var",
  "/run/docker.sock",
];

if ("why" in engine) sandboxContract("docker", undefined, ` (skipped: ${engine.why})`);
else {
  const { driver, identity, report } = engine;
  const { bounds } = report;
  sandboxContract("docker", { driver, identity, bounds, inside: "/workspace", hidden });
}

/** Returns the home folder of uid 0 on this machine. */
function administratorHome(): string {
  const accounts = readFileSync("/etc/passwd", "utf8").split("\n");
  const home = accounts.map((line) => line.split(":")).find(([, , uid]) => uid === "0")?.[5];
  if (home === undefined) throw new Error("/etc/passwd has no account with uid 0");
  return home;
}
