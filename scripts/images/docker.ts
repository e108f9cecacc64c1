import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";
import process from "node:process";

/** Label with the fingerprint of what an image was built from. */
export const label = "dev.reeve.inputs";

export interface Build {
  /** Folder that the Dockerfile may copy from. */
  readonly context: string;
  /** Path of the Dockerfile, relative to the context. */
  readonly file?: string;
  /** Base images by the name of their build argument. Default: the public bases. */
  readonly bases: Readonly<Record<string, string>>;
  /** Whether the build may use the network, to install packages from a registry. */
  readonly hasNetwork: boolean;
  /** The fingerprint of what the image is built from. */
  readonly inputs: string;
}

/** Builds an image, with BuildKit if it is installed. Throws if the build fails, with the reason on stderr. */
export function buildImage(
  name: string,
  { context, file = "deploy/images/Dockerfile", bases, hasNetwork, inputs }: Build,
): void {
  const base = Object.entries(bases).flatMap(([key, value]) => ["--build-arg", `${key}=${value}`]);
  const network = hasNetwork ? "default" : "none";
  const args = [
    "build",
    "-q",
    "--network",
    network,
    "-f",
    join(context, file),
    "-t",
    name,
    ...base,
  ];
  execFileSync("docker", [...args, "--label", `${label}=${inputs}`, context], {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, DOCKER_BUILDKIT: hasBuildKit() ? "1" : "0" },
  });
}

/** Returns the fingerprint of what an image was built from, or undefined if there is no such image. */
export function inputsOf(name: string): string | undefined {
  return query(["image", "inspect", "-f", `{{ index .Config.Labels "${label}" }}`, name])?.trim();
}

function hasBuildKit(): boolean {
  return query(["buildx", "version"]) !== undefined;
}

function query(args: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync("docker", args, { encoding: "utf8" });
  return status === 0 ? stdout : undefined;
}
