import { execFileSync } from "node:child_process";
import { cpSync, globSync, lstatSync, mkdirSync, readFileSync } from "node:fs";
import { symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { z } from "zod";

const root = join(import.meta.dirname, "../..");
const workspaces = ["packages/*", "services/*", "cli", "sdk/typescript"];
const sources = ["packages", "services", "cli", "sdk/typescript", "examples", "deploy/images"];
const manifestShape = z.looseObject({ name: z.string(), license: z.string() });
/** What has a command in the image; all other workspaces come as their dependencies. */
const commands = ["cli", "@reeve/gateway", "@reeve/runtime", "@reeve/toolhost", "@reeve/approvals"];
/** Node strips no types below node_modules, and what tests need is not in the image. */
const unneeded = /\.(?:d\.[cm]?ts|[cm]?ts|map)$|\/(?:\.package-lock\.json|\.bin)$/;

/**
 * Copies into `folder` what an image is built from, with the packages of this checkout that production needs: nothing has
 * to be installed in the build, and so no registry reached.
 */
export function copyProductionTree(folder: string): void {
  for (const each of sources) {
    cpSync(join(root, each), join(folder, each), {
      recursive: true,
      filter: (path) => !isOutside(path),
    });
  }
  for (const path of productionPackages()) {
    const to = join(folder, path);
    mkdirSync(dirname(to), { recursive: true });
    cpSync(join(root, path), to, {
      recursive: true,
      filter: (file) =>
        !unneeded.test(file) && !relative(join(root, path), file).startsWith("node_modules"),
    });
  }
  linkWorkspaces(folder);
  writeFileSync(join(folder, "package.json"), JSON.stringify(rootManifest(), undefined, 2));
  writeFileSync(join(folder, "sbom.cdx.json"), billOfMaterials(folder));
}

function isOutside(path: string): boolean {
  return /\/(?:node_modules|test|dist|\.reeve|k8s)$/.test(path) || path.endsWith(".test.ts");
}

/** The root of the workspaces without what is for development. */
function rootManifest(): object {
  const { name, license } = manifestOf(join(root, "package.json"));
  return { name, version: "0.1.0", private: true, license, type: "module", workspaces };
}

/** Folders of packages below node_modules, relative to the root. */
function productionPackages(): readonly string[] {
  const of = commands.flatMap((each) => ["--workspace", each]);
  const listed = npm(["ls", "--omit=dev", "--all", "--parseable", ...of], root);
  return listed
    .split("\n")
    .map((path) => relative(root, path))
    .filter((path) => path.split("/").includes("node_modules"))
    .filter((path) => !lstatSync(join(root, path)).isSymbolicLink());
}

/** Imports of one workspace by another go over links below node_modules. What they need for development is not there. */
function linkWorkspaces(folder: string): void {
  for (const pattern of workspaces) {
    for (const path of globSync(pattern, { cwd: folder })) {
      const file = join(folder, path, "package.json");
      const { devDependencies: _, ...manifest } = manifestOf(file);
      writeFileSync(file, JSON.stringify(manifest, undefined, 2));
      const { name } = manifest;
      const link = join(folder, "node_modules", name);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(relative(dirname(link), join(folder, path)), link);
    }
  }
}

function billOfMaterials(folder: string): string {
  return npm(["sbom", "--omit=dev", "--sbom-format=cyclonedx"], folder);
}

function npm(args: readonly string[], cwd: string): string {
  return execFileSync("npm", args, {
    cwd,
    encoding: "utf8",
    maxBuffer: 2 ** 26,
    stdio: ["ignore", "pipe", "pipe"],
  });
}

function manifestOf(path: string): z.infer<typeof manifestShape> {
  return manifestShape.parse(JSON.parse(readFileSync(path, "utf8")));
}
