import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { WorkspaceRecordSchema } from "@reeve/contracts/tool";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { retryUnavailable } from "@reeve/platform/async/retry/retry-unavailable";
import { openObjects } from "@reeve/jetstream/objects/nats";
import { openTable } from "@reeve/jetstream/table/nats";
import { workspaceBucket } from "@reeve/jetstream/objects/workspace-store";

const run = promisify(execFile);
const never = new AbortController().signal;
const maxElapsedMs = 30_000;
/** How often a workspace may move while it is read. */
const maxMoves = 5;

/** The files of a run. */
export interface FilesOfRun extends AsyncDisposable {
  /** Returns the content of a file, or undefined if it does not exist. */
  text(path: string): Promise<string | undefined>;
  /** Calls whose changes are lost and that no result has reported yet. */
  readonly unreported: readonly string[];
}

/**
 * Returns the files of a run without using Reeve's API: from the toolhosts' disks, or from the snapshot once they have left
 * the disks.
 */
export async function filesOf(
  nats: Nats,
  roots: readonly string[],
  { tenant, runId }: { readonly tenant: string; readonly runId: string },
): Promise<FilesOfRun> {
  const folder = await mkdtemp(join(tmpdir(), "reeve-chaos-files-"));
  let at = folder;
  for (let look = 0; look < maxMoves; look++) {
    const found = await retryUnavailable(
      () => findFolder(nats, roots, { tenant, runId, folder }),
      { maxElapsedMs },
      never,
    );
    if (found !== undefined) {
      at = found;
      break;
    }
  }
  const row = await retryUnavailable(() => recordOf(nats, tenant, runId), { maxElapsedMs }, never);
  return {
    unreported: row?.record.lost.map(({ callId }) => callId) ?? [],
    text: (path) => readFile(join(at, path), "utf8").catch(() => undefined),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

async function recordOf(nats: Nats, tenant: string, runId: string) {
  const records = await openTable(nats, WorkspaceRecordSchema);
  return await records.get(`${tenant}.${runId}`, never);
}

/** Returns the folder with the files, or undefined if they moved in the meantime. */
async function findFolder(
  nats: Nats,
  roots: readonly string[],
  at: { readonly tenant: string; readonly runId: string; readonly folder: string },
): Promise<string | undefined> {
  const { tenant, runId, folder } = at;
  const record = (await recordOf(nats, tenant, runId))?.record;
  if (record === undefined) return folder;
  const folders = roots.map((root) => join(root, tenant, record.folder, "files"));
  if (record.place !== "") return folders.find((path) => existsSync(path));
  if (record.snapshot === "") return folder;
  const snapshots = await openObjects(nats, { bucket: workspaceBucket, maxBytes: 0 });
  const archive = await snapshots.read(record.snapshot, never);
  if (archive === undefined) return undefined;
  await writeFile(`${folder}.tar`, await Array.fromAsync(archive));
  await run("tar", ["-x", "-f", `${folder}.tar`, "-C", folder, "--no-same-owner"]);
  await rm(`${folder}.tar`);
  return folder;
}
