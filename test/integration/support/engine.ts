import { execFile, spawnSync } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { findProgram } from "@reeve/platform/nats/nats-server";
import { imageNames } from "../../../scripts/images/image-names.ts";

const root = join(import.meta.dirname, "../../..");
/** What testcontainers would have tidy up; where it is not, containers are removed by who started them alone. */
const reaperImage = process.env["RYUK_CONTAINER_IMAGE"] ?? "testcontainers/ryuk:0.14.0";

const engineReason = reasonAgainst();
if (engineReason === undefined && docker(["image", "inspect", reaperImage]) !== 0) {
  process.env["TESTCONTAINERS_RYUK_DISABLED"] = "true";
}

/**
 * Why tests that need a container engine, and what else they say, are skipped here; undefined when they run. With
 * `REEVE_ENGINE=required` it throws the reason instead.
 */
export function whySkipped(further?: string): string | undefined {
  const reason = engineReason ?? further;
  if (reason !== undefined && process.env["REEVE_ENGINE"] === "required") {
    throw new Error(`REEVE_ENGINE=required, but ${reason}`);
  }
  return reason;
}

/** The end of the name of a suite: why it is skipped. */
export function because(reason: string | undefined): string {
  return reason === undefined ? "" : ` (skipped: ${reason})`;
}

/** Makes the images of this checkout, where they are not up to date. Gives their names. */
export async function upToDateImages(): Promise<typeof imageNames> {
  await promisify(execFile)(process.execPath, [join(root, "scripts/images.ts")]);
  return imageNames;
}

function reasonAgainst(): string | undefined {
  if (findProgram("docker") === undefined) return "there is no docker on the PATH";
  if (docker(["version"]) !== 0) return "no container engine answers; DOCKER_HOST names its socket";
  if (findProgram("dpkg-query") === undefined) {
    return "images are made of the Debian packages of a machine, and this one has none";
  }
  return undefined;
}

function docker(args: readonly string[]): number | null {
  return spawnSync("docker", args, { stdio: "ignore", timeout: 10_000 }).status;
}
