import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const page = join(import.meta.dirname, "../../../docs/tools.md");
const packageName = "@modelcontextprotocol/server-filesystem";

interface InstalledServer extends Disposable {
  readonly servers: Readonly<Record<string, unknown>>;
  readonly shared: string;
}

/** Returns the server of the recipe in docs/tools.md under another name and with other folders, which it creates. */
export function installedServer(name: string): InstalledServer {
  const folder = mkdtempSync(join(tmpdir(), "reeve-installed-"));
  // A server of root runs as another user.
  chmodSync(folder, 0o755);
  const recipe = /npm install --prefix (\S+) (\S+)\n```\n\n```json\n([^`]*)```/.exec(
    readFileSync(page, "utf8"),
  );
  const [, prefix = "", installed, configuration = ""] = recipe ?? [];
  if (installed !== packageName) throw new Error(`docs/tools.md does not install ${packageName}`);
  const shared = join(folder, "shared");
  mkdirSync(shared);
  writeFileSync(join(shared, "note.txt"), "shared with a sandbox");
  copyInstalled(packageName, import.meta.filename, join(folder, "mcp/node_modules"));
  const text = configuration
    .replaceAll(prefix, join(folder, "mcp"))
    .replaceAll("/srv/shared", shared);
  const { servers } = JSON.parse(text) as { servers: Record<string, unknown> };
  const [server] = Object.values(servers);
  return {
    servers: { [name]: server },
    shared,
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Copies a package and what it depends on, as `npm install` without a network would. */
function copyInstalled(name: string, from: string, to: string): void {
  const target = join(to, name);
  if (readsManifest(target) !== undefined) return;
  const source = folderOf(name, from);
  if (source === undefined) return;
  cpSync(source, target, { recursive: true });
  const { dependencies = {} } = readsManifest(source) ?? {};
  for (const each of Object.keys(dependencies))
    copyInstalled(each, join(source, "package.json"), to);
}

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
}

function readsManifest(folder: string): Manifest | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
  } catch {
    return undefined;
  }
}

/** Returns the folder of an installed package, which a file can import. */
function folderOf(name: string, from: string): string | undefined {
  const places = createRequire(from).resolve.paths(name) ?? [];
  return places
    .map((place) => join(place, ...name.split("/")))
    .find((folder) => readsManifest(folder) !== undefined);
}
