import { constants } from "node:fs";
import { open, readdir, realpath } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import type { SkillFile } from "@reeve/agent/skills/skill";
import { skillLimits } from "@reeve/agent/skills/parse-skill";
import type { Violation } from "@reeve/platform/failure";

/** The files of a folder, and what in it is no file that can be read. */
export interface ReadFiles {
  readonly files: readonly SkillFile[];
  readonly violations: readonly Violation[];
}

/** How deep the folders of a skill may be nested. */
const maxDepth = 8;
/** A folder with more entries than this is not read to its end. */
const maxEntries = 1_000;

/**
 * Reads the files below a folder. Hidden entries are left out. A link may lead to another file of the folder; one that leaves the folder or
 * leads to a hidden entry, and anything that is neither a file nor a folder, is a violation.
 */
export async function readFiles(folder: string, signal: AbortSignal): Promise<ReadFiles> {
  const files: SkillFile[] = [];
  const violations: Violation[] = [];
  const report = (path: string, description: string) =>
    void violations.push({ field: path, description, reason: "UNREADABLE" });
  const root = await realpath(folder).catch((error: unknown) => report("", unreadable(error)));
  if (root === undefined) return { files, violations };
  const pending = [{ path: "", depth: 0 }];
  let entries = 0;
  let room: number = skillLimits.totalBytes;
  for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
    signal.throwIfAborted();
    const { path: parent } = next;
    const found = await readdir(join(root, parent), { withFileTypes: true }).catch(
      (error: unknown) => report(parent, unreadable(error)),
    );
    for (const entry of found ?? []) {
      if (entry.name.startsWith(".")) continue;
      const path = next.path === "" ? entry.name : `${next.path}/${entry.name}`;
      if (++entries > maxEntries) {
        report("", `the folder has more than ${maxEntries} entries`);
        return { files, violations };
      }
      if (/[\p{Cc}\\]/u.test(entry.name)) report(path, "has a name with a control character or \\");
      else if (entry.isDirectory()) {
        if (next.depth < maxDepth) pending.push({ path, depth: next.depth + 1 });
        else report(path, `is nested deeper than ${maxDepth} folders`);
      } else {
        const read = await readOne(root, path, room);
        if (typeof read === "string") report(path, read);
        else {
          room -= read.length;
          files.push({ path, content: read });
        }
      }
    }
  }
  return { files, violations };
}

/** Returns the content of a file, or what is wrong with it. */
async function readOne(root: string, path: string, room: number): Promise<Uint8Array | string> {
  const real = await realpath(join(root, path)).catch(() => undefined);
  if (real === undefined) return "is a link to a file that does not exist";
  const inside = relative(root, real);
  if (inside === ".." || inside.startsWith(`..${sep}`))
    return "is a link that leaves the folder of the skill";
  if (inside.split(sep).some(isHidden)) return "is a link to a hidden file";
  // Opening a pipe would wait for its writer; the file may have become a link since.
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
  try {
    await using file = await open(real, flags);
    const found = await file.stat();
    if (found.isDirectory()) return "is a link to a folder; copy the folder";
    if (!found.isFile()) return "is neither a file nor a folder";
    if (found.size > skillLimits.fileBytes) {
      return `has ${found.size} bytes; the limit is ${skillLimits.fileBytes}`;
    }
    if (found.size > room)
      return `exceeds the limit of ${skillLimits.totalBytes} bytes for all files`;
    return await file.readFile();
  } catch (error) {
    return unreadable(error);
  }
}

/** Volumes of Kubernetes show their files as links into such folders. */
const volumeFolder = /^\.\.(?:data$|\d{4}_\d{2}_\d{2}_)/;

function isHidden(name: string): boolean {
  return name.startsWith(".") && !volumeFolder.test(name);
}

function unreadable(error: unknown): string {
  return `cannot be read: ${error instanceof Error ? error.message : String(error)}`;
}
