import { existsSync, lstatSync, readlinkSync } from "node:fs";
import type { SystemView } from "../bubblewrap/spec.ts";

const roots = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];
const files = [
  "/etc/ld.so.cache",
  "/etc/ld.so.conf",
  "/etc/ld.so.conf.d",
  "/etc/alternatives",
  "/etc/localtime",
];

/** The part of this host that programs need to run at all. */
export function systemView(): SystemView {
  const present = roots.filter((path) => existsSync(path));
  return {
    folders: ["/usr", ...present.filter((path) => !isLink(path))],
    links: present.filter(isLink).map((from) => ({ from, to: readlinkSync(from) })),
    files: files.filter((path) => existsSync(path)),
  };
}

/** The first of `names` that lies in a folder which every sandbox sees. */
export function systemProgram(...names: readonly string[]): string | undefined {
  const folders = ["/usr/bin", "/bin", "/usr/local/bin", "/usr/sbin", "/sbin"];
  return names
    .flatMap((name) => folders.map((folder) => `${folder}/${name}`))
    .find((path) => existsSync(path));
}

function isLink(path: string): boolean {
  return lstatSync(path).isSymbolicLink();
}
