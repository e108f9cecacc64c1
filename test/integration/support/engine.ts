import { spawnSync } from "node:child_process";
import { execFile } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { findProgram } from "@reeve/platform/nats-server";
import { describe, test } from "vitest";
import { imageNames } from "../../../scripts/images/image-names.ts";

const root = join(import.meta.dirname, "../../..");
/** What testcontainers would have tidy up; where it is not, containers are removed by who started them alone. */
const reaperImage = process.env["RYUK_CONTAINER_IMAGE"] ?? "testcontainers/ryuk:0.14.0";

/** Why there can be no containers here, or undefined when there can. */
export const whyNoEngine = reasonAgainst();
if (whyNoEngine === undefined && docker(["image", "inspect", reaperImage]) !== 0) {
  process.env["TESTCONTAINERS_RYUK_DISABLED"] = "true";
}

/**
 * Tests that need a container engine. Without one they are skipped, and the reason stands in their name; with
 * `REEVE_ENGINE=required` that is a failure.
 */
export function onEngine(name: string, tests: () => void, further?: string): void {
  const reason = whyNoEngine ?? further;
  if (reason === undefined) describe(name, tests);
  else if (process.env["REEVE_ENGINE"] === "required") {
    test(name, () => {
      throw new Error(`REEVE_ENGINE=required, but ${reason}`);
    });
  } else describe.skip(`${name} (skipped: ${reason})`, tests);
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
