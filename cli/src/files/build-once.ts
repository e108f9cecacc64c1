import { existsSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { lockFile } from "./lock-file.ts";

/** The name of the file in a build that says from what it was built. */
const recordName = "sources.sha256";

/** How a folder is built from its sources. */
export interface Build {
  /** The folder with the result. The folder `FOLDER.work` beside it is used while it is built. */
  readonly folder: string;
  /** Returns a digest of all that the result depends on. */
  readonly digest: () => string;
  /** Builds into a folder that does not exist. Returns what went wrong, or undefined. */
  readonly build: (into: string) => Promise<string | undefined>;
  /** Called if the caller waits for another process that builds. */
  readonly onWait: () => void;
}

/**
 * Builds a folder, unless it was built from sources with the same content. One process at a time builds; others wait for it, and use its
 * result. A process that reads the folder meanwhile sees a complete build, or none. Returns what went wrong, or undefined.
 */
export async function buildOnce(
  { folder, digest, build, onWait }: Build,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (recordOf(folder) === digest()) return undefined;
  const work = `${folder}.work`;
  await using _ = await lockFile(join(work, "lock"), onWait, signal);
  // The process that held the lock may have built it. Read before the build: sources that change meanwhile are built the next time.
  const sources = digest();
  if (recordOf(folder) === sources) return undefined;
  removeRest(work);
  const next = join(work, `next-${process.pid}`);
  const last = join(work, `last-${process.pid}`);
  try {
    const problem = await build(next);
    // A process that stood still has lost the lock, and another one may have built the same.
    if (recordOf(folder) === sources) return undefined;
    if (problem !== undefined) return problem;
    writeFileSync(join(next, recordName), `${sources}\n`);
    moveAway(folder, last);
    renameSync(next, folder);
    return undefined;
  } finally {
    for (const rest of [next, last]) rmSync(rest, { recursive: true, force: true });
  }
}

/** Removes what builds left that were killed: only the process with the lock builds. */
function removeRest(work: string): void {
  for (const name of readdirSync(work)) {
    if (/^(?:next|last)-/.test(name)) rmSync(join(work, name), { recursive: true, force: true });
  }
}

function moveAway(folder: string, to: string): void {
  if (!existsSync(folder)) return;
  try {
    renameSync(folder, to);
  } catch {
    // A folder that belongs to the image of a container can be removed only.
    rmSync(folder, { recursive: true, force: true });
  }
}

function recordOf(folder: string): string | undefined {
  const record = join(folder, recordName);
  return existsSync(record) ? readFileSync(record, "utf8").trim() : undefined;
}
