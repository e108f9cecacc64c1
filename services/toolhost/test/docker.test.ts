import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { sandboxIdentity } from "../src/adapters/bubblewrap/identity.ts";
import { DockerDriver } from "../src/adapters/docker/docker-driver.ts";
import { sandboxContract } from "./support/contract/sandbox-contract.ts";

const identity = sandboxIdentity(64_017);
const address = process.env["DOCKER_HOST"];
const image = process.env["REEVE_SANDBOX_IMAGE"] ?? "reeve-sandbox:latest";
const driver = new DockerDriver({ identity, address, image, probeDir: tmpdir });
// Only an engine that somebody points out is asked.
const report =
  address === undefined
    ? { works: false as const, reason: "DOCKER_HOST names no container engine" }
    : await driver.probe(AbortSignal.timeout(60_000));
const hidden = [
  "/etc/shadow",
  "/etc/passwd",
  join(administratorHome(), ".bashrc"),
  "/home/user",
  "/var",
  "/run/docker.sock",
];

if (report.works) {
  const { bounds } = report;
  sandboxContract("docker", { driver, identity, bounds, inside: "/workspace", hidden });
} else sandboxContract("docker", undefined, ` (skipped: ${report.reason})`);

/** The home of uid 0 on this machine. */
function administratorHome(): string {
  const accounts = readFileSync("/etc/passwd", "utf8").split("\n");
  const home = accounts.map((line) => line.split(":")).find(([, , uid]) => uid === "0")?.[5];
  if (home === undefined) throw new Error("/etc/passwd has no account with uid 0");
  return home;
}
