import { existsSync, lstatSync, readlinkSync } from "node:fs";

/** Files of the host that a sandbox sees, read-only. */
export interface SystemView {
  /** Folders that are mounted as they are: `/usr`. */
  readonly folders: readonly string[];
  /** Symbolic links at the root: `/bin` to `usr/bin`. */
  readonly links: readonly { readonly from: string; readonly to: string }[];
  /** Files of `/etc` that programs need. */
  readonly files: readonly string[];
}

const roots = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];
const files = [
  "/etc/ld.so.cache",
  "/etc/ld.so.conf",
  "/etc/ld.so.conf.d",
  "/etc/alternatives",
  "/etc/localtime",
];

/** Returns the part of this host that programs need to run. */
export function systemView(): SystemView {
  const present = roots.filter((path) => existsSync(path));
  return {
    folders: ["/usr", ...present.filter((path) => !isLink(path))],
    links: present.filter(isLink).map((from) => ({ from, to: readlinkSync(from) })),
    files: files.filter((path) => existsSync(path)),
  };
}

/** Returns the path of the first of `names` found in a folder that every sandbox sees; undefined if there is none. */
export function systemProgram(...names: readonly string[]): string | undefined {
  const folders = ["/usr/bin", "/bin", "/usr/local/bin", "/usr/sbin", "/sbin"];
  return names
    .flatMap((name) => folders.map((folder) => `${folder}/${name}`))
    .find((path) => existsSync(path));
}

function isLink(path: string): boolean {
  return lstatSync(path).isSymbolicLink();
}
