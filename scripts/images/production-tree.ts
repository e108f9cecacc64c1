import { execFileSync } from "node:child_process";
import { cpSync, globSync, lstatSync, mkdirSync, readFileSync } from "node:fs";
import { symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import process from "node:process";
import { z } from "zod";

const root = join(import.meta.dirname, "../..");
const workspaces = ["packages/*", "services/*", "cli", "sdk/typescript"];
const sources = ["packages", "services", "cli", "sdk/typescript", "examples", "deploy/images"];
const manifestShape = z.looseObject({
  name: z.string(),
  version: z.string(),
  license: z.string(),
});
/** The workspaces that run in the image. All others are their dependencies. */
const entryPoints = [
  "cli",
  "@reeve/gateway",
  "@reeve/runtime",
  "@reeve/toolhost",
  "@reeve/approvals",
];
/** Type declarations, sources that Node cannot run in node_modules, source maps, and files of npm. */
const unneeded = /\.(?:d\.[cm]?ts|[cm]?ts|map)$|\/(?:\.package-lock\.json|\.bin)$/;

/**
 * Copies the sources and installed production packages of this checkout into `folder`, as the context of an image build. The
 * build then installs nothing, and needs no registry.
 */
export function copyProductionTree(folder: string): void {
  for (const each of sources) {
    cpSync(join(root, each), join(folder, each), {
      recursive: true,
      filter: (path) => !isExcluded(path),
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
  execFileSync(process.execPath, [join(root, "scripts/build-console.ts")], { stdio: "inherit" });
  cpSync(join(root, "console/dist"), join(folder, "console/dist"), { recursive: true });
  linkWorkspaces(folder);
  writeFileSync(join(folder, "package.json"), JSON.stringify(rootManifest(), undefined, 2));
  writeFileSync(join(folder, "sbom.cdx.json"), billOfMaterials(folder));
}

function isExcluded(path: string): boolean {
  return /\/(?:node_modules|test|dist|\.reeve|k8s)$/.test(path) || path.endsWith(".test.ts");
}

/** Returns the root manifest without development dependencies. */
function rootManifest(): object {
  const { name, version, license } = manifestOf(join(root, "package.json"));
  return { name, version, private: true, license, type: "module", workspaces };
}

/** Returns the folders of production packages in node_modules, relative to the root. */
function productionPackages(): readonly string[] {
  const only = entryPoints.flatMap((each) => ["--workspace", each]);
  const listed = npm(["ls", "--omit=dev", "--all", "--parseable", ...only], root);
  return listed
    .split("\n")
    .map((path) => relative(root, path))
    .filter((path) => path.split("/").includes("node_modules"))
    .filter((path) => !lstatSync(join(root, path)).isSymbolicLink());
}

/** Links the workspaces into node_modules, and removes development dependencies, which are not installed, from their manifests. */
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
