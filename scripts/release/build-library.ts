import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { compile } from "./compile.ts";
import type { PublishedLibrary } from "./published.ts";
import { importedPackages } from "./imported-packages.ts";
import type { Workspace } from "./workspaces.ts";
import { readWorkspaces } from "./workspaces.ts";

/**
 * Builds a library as it is published, in `folder`, which it replaces: JavaScript with declarations, which Node runs in
 * node_modules. The other workspaces that it imports are inside, in its own node_modules, so that their names are not part of
 * the registry. All other packages are dependencies with the versions of this repository.
 */
export function buildLibrary(root: string, spec: PublishedLibrary, folder: string): void {
  const workspaces = readWorkspaces(root);
  const work = `${folder}.work`;
  for (const each of [folder, work]) rmSync(each, { recursive: true, force: true });
  try {
    compile(root, workspaces, spec.entries, work);
    const used = workspaces.filter((each) => existsSync(join(work, each.folder)));
    for (const each of used) {
      const isEntry = each.folder === spec.workspace;
      const to = join(folder, isEntry ? each.folder : join("node_modules", each.name));
      cpSync(join(work, each.folder), to, { recursive: true });
      copyAssets(join(root, each.folder), to);
      if (!isEntry) write(to, "package.json", bundledManifest(each, to));
    }
    for (const each of ["LICENSE", "CHANGELOG.md"]) {
      cpSync(join(root, each), join(folder, each));
    }
    const readme = join(root, spec.workspace, "README.md");
    cpSync(readme, join(folder, "README.md"));
    write(folder, "package.json", manifestOf(root, spec, { folder, used, workspaces }));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Copies what the compiler does not: the Python programs of sandboxes, and JavaScript. */
function copyAssets(from: string, to: string): void {
  for (const path of globSync("src/**/*.{py,mjs}", { cwd: from })) {
    if (existsSync(join(to, dirname(path)))) cpSync(join(from, path), join(to, path));
  }
}

/** The manifest of a workspace inside a package. It has no dependencies: the package has them. */
function bundledManifest({ name, version, exports, imports }: Workspace, folder: string): object {
  const compiled = Object.entries(exports).flatMap(([subpath, source]) => {
    const path = source.replace(/\.ts$/, "");
    if (!existsSync(join(folder, `${path}.js`))) return [];
    return [[subpath, { types: `${path}.d.ts`, default: `${path}.js` }]];
  });
  return { name, version, type: "module", imports, exports: Object.fromEntries(compiled) };
}

interface Contents {
  readonly folder: string;
  readonly used: readonly Workspace[];
  readonly workspaces: readonly Workspace[];
}

function manifestOf(
  root: string,
  { name, description, workspace, manifest }: PublishedLibrary,
  { folder, used, workspaces }: Contents,
): object {
  const bundled = used.filter((each) => each.folder !== workspace);
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as RootManifest;
  return {
    name,
    version,
    description,
    license: "Apache-2.0",
    type: "module",
    publishConfig: { access: "public" },
    ...manifest,
    dependencies: {
      ...Object.fromEntries(bundled.map((each) => [each.name, each.version])),
      ...versionsOf(importedPackages(folder), workspaces),
    },
    bundleDependencies: bundled.map((each) => each.name),
  };
}

interface RootManifest {
  readonly version: string;
}

/** Returns the versions that the workspaces declare. Throws for a package without a version, or with two. */
function versionsOf(
  names: readonly string[],
  workspaces: readonly Workspace[],
): Readonly<Record<string, string>> {
  const external = names.filter((name) => !workspaces.some((each) => each.name === name));
  return Object.fromEntries(
    external.map((name) => {
      const versions = new Set(workspaces.flatMap((each) => each.dependencies[name] ?? []));
      const [version] = versions;
      if (version === undefined || versions.size > 1) {
        throw new Error(`${name} needs one version in the workspaces: ${[...versions].join(", ")}`);
      }
      return [name, version];
    }),
  );
}

function write(folder: string, name: string, content: object): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), `${JSON.stringify(content, undefined, 2)}\n`);
}
