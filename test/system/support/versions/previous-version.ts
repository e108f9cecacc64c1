import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";

const root = join(import.meta.dirname, "../../../..");
/** The folders of a commit that its services need. Each has one folder for each workspace. */
const sources = ["packages", "services"] as const;
const maxArchiveBytes = 512 * 1024 * 1024;

/** The services of an earlier commit, with the dependencies of this one. */
export interface PreviousVersion extends Disposable {
  readonly root: string;
}

/** The commit before this one, or `REEVE_PREVIOUS`. */
export const previousCommit = process.env["REEVE_PREVIOUS"] ?? "HEAD~1";

/** Returns why the earlier commit cannot run here; empty if it can. */
export function whyNoPreviousVersion(): string {
  const args = ["cat-file", "-e", `${previousCommit}^{commit}`];
  const { status } = spawnSync("git", args, { cwd: root, stdio: "ignore" });
  return status === 0 ? "" : `there is no commit ${previousCommit} here`;
}

/** Copies the sources of the earlier commit to a folder, and links what they import. */
export function openPreviousVersion(): PreviousVersion {
  using failing = new DisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "reeve-previous-"));
  failing.defer(() => rmSync(folder, { recursive: true, force: true }));
  const archive = execFileSync("git", ["archive", previousCommit, ...sources], {
    cwd: root,
    maxBuffer: maxArchiveBytes,
  });
  execFileSync("tar", ["-x", "-C", folder], { input: archive });
  linkDependencies(folder);
  const resources = failing.move();
  return { root: folder, [Symbol.dispose]: () => resources.dispose() };
}

/** Links external packages to those of this commit, and workspaces to their own folders. */
function linkDependencies(folder: string): void {
  const workspaces = sources.flatMap((kind) =>
    readdirSync(join(folder, kind)).map((name) => join(kind, name)),
  );
  const names = new Map(workspaces.map((path) => [nameOf(join(folder, path)), path]));
  const scopes = new Set([...names.keys()].map((name) => dirname(name)));
  const modules = join(folder, "node_modules");
  mkdirSync(modules);
  for (const entry of readdirSync(join(root, "node_modules"))) {
    if (!scopes.has(entry)) symlinkSync(join(root, "node_modules", entry), join(modules, entry));
  }
  for (const scope of scopes) mkdirSync(join(modules, scope));
  for (const [name, path] of names) symlinkSync(join(folder, path), join(modules, name));
  for (const path of workspaces) {
    const nested = join(root, path, "node_modules");
    if (existsSync(nested)) symlinkSync(nested, join(folder, path, "node_modules"));
  }
}

function nameOf(workspace: string): string {
  const { name } = JSON.parse(readFileSync(join(workspace, "package.json"), "utf8")) as {
    readonly name: string;
  };
  return name;
}
