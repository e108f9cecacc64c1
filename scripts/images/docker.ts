import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";
import process from "node:process";

/** The label that says of what an image was made. */
export const label = "dev.reeve.inputs";

export interface Build {
  /** What the Dockerfile may copy. */
  readonly context: string;
  /** The Dockerfile, relative to the context. */
  readonly file?: string;
  /** Base images by the name of their argument; the public ones where none is given. */
  readonly bases: Readonly<Record<string, string>>;
  /** Whether something is installed from a registry while it is built; else it gets no network. */
  readonly isInstalling: boolean;
  /** The fingerprint of what it is made of. */
  readonly inputs: string;
}

/** Builds an image, with BuildKit where the client has it. Throws when that fails; what was said stands on stderr. */
export function buildImage(
  name: string,
  { context, file = "deploy/images/Dockerfile", bases, isInstalling, inputs }: Build,
): void {
  const base = Object.entries(bases).flatMap(([key, value]) => ["--build-arg", `${key}=${value}`]);
  const network = isInstalling ? "default" : "none";
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

/** The fingerprint of what an image was made of; undefined without such an image. */
export function inputsOf(name: string): string | undefined {
  return ask(["image", "inspect", "-f", `{{ index .Config.Labels "${label}" }}`, name])?.trim();
}

function hasBuildKit(): boolean {
  return ask(["buildx", "version"]) !== undefined;
}

function ask(args: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync("docker", args, { encoding: "utf8" });
  return status === 0 ? stdout : undefined;
}
