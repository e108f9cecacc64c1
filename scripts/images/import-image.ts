import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
} from "node:fs";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const rootLinks = ["bin", "sbin", "lib", "lib32", "lib64", "libx32"];

export interface ImageContents {
  /** Empty folders, relative to the root. */
  readonly folders?: readonly string[];
  /** Absolute paths of files and links to copy from this machine to the same path. */
  readonly files: readonly string[];
  /** Files to copy from another path, and files with the given text. */
  readonly copies?: readonly Copy[];
  /** Dockerfile instructions to apply to the image, such as `USER 65532`. */
  readonly changes?: readonly string[];
}

export type Copy =
  | { readonly to: string; readonly text: string }
  | { readonly to: string; readonly from: string };

/** Builds an image of one layer. Root owns every file, and every user can write to `/tmp`. */
export function importImage(
  name: string,
  { folders = [], files, copies = [], changes = [] }: ImageContents,
): void {
  const scratch = mkdtempSync(join(tmpdir(), "reeve-image-"));
  try {
    const base = join(scratch, "base");
    for (const each of ["tmp", "proc", "sys", "dev", "etc", ...folders]) {
      mkdirSync(join(base, each), { recursive: true });
    }
    // A volume that is mounted there takes the mode of the folder below it.
    chmodSync(join(base, "tmp"), 0o1777);
    for (const each of rootLinks) {
      if (existsSync(`/${each}`) && lstatSync(`/${each}`).isSymbolicLink()) {
        symlinkSync(readlinkSync(`/${each}`), join(base, each));
      }
    }
    for (const copy of copies) write(join(base, copy.to), copy);
    // `docker import` refuses an archive in which a path occurs twice.
    const own = new Set(readdirSync(base, { recursive: true, encoding: "utf8" }));
    const listed = files
      .map((path) => path.slice(1))
      .filter((path) => path !== "" && !own.has(path));
    const list = join(scratch, "list");
    writeFileSync(list, [...new Set(listed)].join("\0"));
    const archive = join(scratch, "image.tar");
    const owners = ["--numeric-owner", "--owner=0", "--group=0", "--sort=name"];
    const further = ["--no-recursion", "-C", "/", "--null", "-T", list];
    execFileSync("tar", ["-c", "-f", archive, ...owners, "-C", base, ".", ...further]);
    const changed = changes.flatMap((change) => ["--change", change]);
    execFileSync("docker", ["import", ...changed, archive, name], {
      stdio: ["ignore", "ignore", "inherit"],
    });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function write(path: string, copy: Copy): void {
  mkdirSync(dirname(path), { recursive: true });
  if ("text" in copy) writeFileSync(path, copy.text, { mode: 0o644 });
  // Programs are large: share their blocks if the file system can.
  else execFileSync("cp", ["--dereference", "--reflink=auto", copy.from, path]);
}
