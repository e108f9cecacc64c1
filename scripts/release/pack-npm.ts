import { execFileSync } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { buildPackage } from "./build-package.ts";
import { published } from "./published.ts";

const client = "@reeve/client";

/** The names of all npm packages of a release. */
export const npmPackages: readonly string[] = [client, ...published.map(({ name }) => name)];

/** Builds and packs an npm package into `folder`, and returns the path of the archive. */
export function packNpm(root: string, name: string, folder: string): string {
  const built = name === client ? buildClient(root) : build(root, name);
  const args = ["pack", built, "--json", "--pack-destination", folder];
  const output = execFileSync("npm", args, {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [packed] = JSON.parse(output) as readonly { readonly filename: string }[];
  if (packed === undefined) throw new Error(`npm packed nothing of ${built}`);
  return join(folder, packed.filename);
}

function buildClient(root: string): string {
  const path = `${join(root, "node_modules/.bin")}:${process.env["PATH"] ?? ""}`;
  const script = join(root, "scripts/build-client.ts");
  const env = { ...process.env, PATH: path };
  execFileSync(process.execPath, [script], { cwd: root, env, stdio: "inherit" });
  return join(root, "sdk/typescript/dist");
}

function build(root: string, name: string): string {
  const spec = published.find((each) => each.name === name);
  if (spec === undefined) throw new Error(`${name} is not a package of a release`);
  const folder = join(root, "dist", name.replace("@reeve/", "npm-"));
  if (spec.files.includes("console/dist")) {
    execFileSync(process.execPath, [join(root, "scripts/build-console.ts")], { stdio: "inherit" });
  }
  buildPackage(root, spec, folder);
  return folder;
}
