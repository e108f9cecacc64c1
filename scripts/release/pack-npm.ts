import { execFileSync } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { buildLibrary } from "./build-library.ts";
import { buildProgram } from "./build-program.ts";
import { publishedLibraries, publishedPrograms } from "./published.ts";

const client = "@reeve/client";

/** The names of all npm packages of a release. */
export const npmPackages: readonly string[] = [
  client,
  ...[...publishedPrograms, ...publishedLibraries].map(({ name }) => name),
];

/** Builds and packs an npm package into `folder`, and returns the path of the archive. */
export async function packNpm(root: string, name: string, folder: string): Promise<string> {
  const built = name === client ? buildClient(root) : await build(root, name);
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

async function build(root: string, name: string): Promise<string> {
  const folder = join(root, "dist", name.replace("@reeve/", "npm-"));
  const program = publishedPrograms.find((each) => each.name === name);
  const library = publishedLibraries.find((each) => each.name === name);
  if (program !== undefined) {
    execFileSync(process.execPath, [join(root, "scripts/build-console.ts")], { stdio: "inherit" });
    await buildProgram(root, program, folder);
  } else if (library !== undefined) buildLibrary(root, library, folder);
  else throw new Error(`${name} is not a package of a release`);
  return folder;
}
