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
/** How often a workspace may move while it is looked at. */
const maxLooks = 5;

/** Where the files of a run are to be seen. */
export interface FilesOfRun extends AsyncDisposable {
  /** What a file holds. Undefined: there is none. */
  text(path: string): Promise<string | undefined>;
  /** Calls whose changes are gone, and of which no result has told yet. */
  readonly untold: readonly string[];
}

/**
 * The files of a run, without asking Reeve: as they lie on the disk of the toolhosts, or, once they have left it, as they are in the
 * snapshot.
 */
export async function filesOf(
  nats: Nats,
  roots: readonly string[],
  { tenant, runId }: { readonly tenant: string; readonly runId: string },
): Promise<FilesOfRun> {
  const folder = await mkdtemp(join(tmpdir(), "reeve-chaos-files-"));
  let at = folder;
  for (let look = 0; look < maxLooks; look++) {
    const found = await retryUnavailable(
      () => lay(nats, roots, { tenant, runId, folder }),
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
    untold: row?.record.lost.map(({ callId }) => callId) ?? [],
    text: (path) => readFile(join(at, path), "utf8").catch(() => undefined),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

async function recordOf(nats: Nats, tenant: string, runId: string) {
  const records = await openTable(nats, WorkspaceRecordSchema);
  return await records.get(`${tenant}.${runId}`, never);
}

/** Where the files are; undefined when they went elsewhere meanwhile. */
async function lay(
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
