import { execFile, spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { findProgram } from "@reeve/platform/nats/nats-server";
import { imageNames } from "../../../scripts/images/image-names.ts";

const root = join(import.meta.dirname, "../../..");
/** The image with which testcontainers removes leftovers. Without it, only the process that started a container removes it. */
const reaperImage = process.env["RYUK_CONTAINER_IMAGE"] ?? "testcontainers/ryuk:0.14.0";

const engineReason = reasonAgainst();
if (engineReason === undefined && docker(["image", "inspect", reaperImage]) !== 0) {
  process.env["TESTCONTAINERS_RYUK_DISABLED"] = "true";
}
// An engine gives a port different numbers in IPv4 and IPv6, and `localhost` can mean either: another container can answer.
if ((process.env["DOCKER_HOST"] ?? "unix:").startsWith("unix:")) {
  process.env["TESTCONTAINERS_HOST_OVERRIDE"] ??= "127.0.0.1";
}

/**
 * Returns why tests that need a container engine (and `further` requirements) are skipped, or undefined if they run. With
 * `REEVE_ENGINE=required`, it throws the reason instead.
 */
export function whySkipped(further?: string): string | undefined {
  const reason = engineReason ?? further;
  if (reason !== undefined && process.env["REEVE_ENGINE"] === "required") {
    throw new Error(`REEVE_ENGINE=required, but ${reason}`);
  }
  return reason;
}

/** Returns the reason for skipping a suite as the end of its name. */
export function because(reason: string | undefined): string {
  return reason === undefined ? "" : ` (skipped: ${reason})`;
}

/** Builds the images of this checkout if they are outdated. Returns their names. One process builds at a time. */
export async function upToDateImages(): Promise<typeof imageNames> {
  const lock = join(tmpdir(), "reeve-images.lock");
  await promisify(execFile)("flock", [lock, process.execPath, join(root, "scripts/images.ts")]);
  return imageNames;
}

function reasonAgainst(): string | undefined {
  if (findProgram("docker") === undefined) return "docker is not on the PATH";
  if (docker(["version"]) !== 0)
    return "no container engine answers; set DOCKER_HOST to its socket";
  if (findProgram("dpkg-query") === undefined) {
    return "the images are built from the machine's Debian packages, and this machine has none";
  }
  return undefined;
}

function docker(args: readonly string[]): number | null {
  return spawnSync("docker", args, { stdio: "ignore", timeout: 10_000 }).status;
}
