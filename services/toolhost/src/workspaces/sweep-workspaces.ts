import type { WorkspaceRecord } from "@reeve/contracts/tool";
import type { Row } from "@reeve/jetstream/table/port";
import { snapshotNames } from "@reeve/jetstream/objects/workspace-store";
import { sleep } from "@reeve/platform/async/sleep";
import type { StoredWorkspace } from "@reeve/sandbox/storage/workspace-storage";
import type { WorkspaceKeeper } from "./workspace-keeper.ts";
import { ReadableTenants } from "./readable-tenants.ts";
import type { WorkspacePorts } from "./workspace-ports.ts";
import { isUnsaved, lastUsedMs, withoutSnapshotsBefore } from "./workspace-record.ts";

/** How long a snapshot or a folder may exist before a record names it. */
const graceMs = 3_600_000;
/** How many workspaces of dead hosts on this storage are adopted in one sweep. */
const maxAdopted = 20;

/**
 * Every `intervalMs`, until `signal` aborts: deletes records that were unused for the retention time, snapshots to which no record
 * refers, and folders on this storage of workspaces that are elsewhere. Adopts workspaces on this storage whose host is gone.
 */
export async function sweepWorkspaces(
  keeper: WorkspaceKeeper,
  ports: WorkspacePorts,
  intervalMs: number,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    await sleep(intervalMs, signal);
    await sweepOnce(keeper, ports, signal);
  }
}

/** Sweeps once. What fails is logged, and tried again in the next sweep. */
export async function sweepOnce(
  keeper: WorkspaceKeeper,
  ports: WorkspacePorts,
  signal: AbortSignal,
): Promise<void> {
  const { log } = ports;
  // Objects and folders are listed before the records, so that one that a record names in between is not deleted.
  const objects = await ports.snapshots.list(signal);
  const folders = await ports.storage.list();
  const rows = await ports.records.list("", signal);
  const kept = new Map<string, WorkspaceRecord>();
  for (const row of rows) {
    try {
      const after = await sweepRecord(row, keeper, ports, signal);
      if (after !== undefined) kept.set(row.key, after);
    } catch (error) {
      signal.throwIfAborted();
      // What other tenants have is swept although the key of one is not available.
      kept.set(row.key, row.record);
      const { tenant, id } = row.record;
      log.warn({ err: error, tenant, id }, "workspace was not swept; trying again later");
    }
  }
  const readable = new ReadableTenants(ports, signal);
  const named = new Set([...kept.values()].flatMap((record) => [...snapshotNames(record)]));
  for (const object of objects) {
    if (named.has(object.name) || ports.now() - object.storedAt.getTime() < graceMs) continue;
    const records = await readable.records(object.name.split("/")[0] ?? "");
    const isNamed = records?.some((record) => snapshotNames(record).has(object.name)) ?? true;
    if (!isNamed) await ports.snapshots.removeUnchanged(object, signal);
  }
  await ports.snapshots.cleanUp(graceMs, signal);
  for (const folder of folders) {
    try {
      await sweepFolder(folder, readable, keeper, ports, signal);
    } catch (error) {
      signal.throwIfAborted();
      log.warn(
        { err: error, tenant: folder.tenant, folder: folder.folder },
        "folder of a workspace was not removed; trying again",
      );
    }
  }
  const orphans = [...kept.values()].filter((record) => isOrphanHere(record, keeper, ports));
  for (const record of orphans.slice(0, maxAdopted)) await adopt(record, keeper, ports, signal);
}

/** Returns the record that is left. Undefined: it was deleted. */
async function sweepRecord(
  row: Row<WorkspaceRecord>,
  keeper: WorkspaceKeeper,
  ports: WorkspacePorts,
  signal: AbortSignal,
): Promise<WorkspaceRecord | undefined> {
  const isOver = await isExpired(row, keeper, ports, signal);
  if (!isOver || !(await deleteRecord(row, ports, signal))) {
    return await dropOldSnapshots(row, ports, signal);
  }
  keeper.drop(row.record);
  return undefined;
}

async function isExpired(
  { record }: Row<WorkspaceRecord>,
  keeper: WorkspaceKeeper,
  { now, limits, hasOpenRun }: WorkspacePorts,
  signal: AbortSignal,
): Promise<boolean> {
  if (keeper.isUsed(record) || now() - lastUsedMs(record) <= limits.retentionMs) return false;
  // A run may wait for a person for longer than the retention time, and needs its files then.
  return !(await hasOpenRun(record, signal));
}

/** Returns false when the record has changed meanwhile. */
async function deleteRecord(
  { key, revision, record }: Row<WorkspaceRecord>,
  { records, snapshots, log }: WorkspacePorts,
  signal: AbortSignal,
): Promise<boolean> {
  if (!(await records.deleteVersion(key, revision, signal))) return false;
  for (const name of snapshotNames(record)) await snapshots.remove(name, signal);
  log.info({ tenant: record.tenant, id: record.id }, "workspace deleted after its retention time");
  return true;
}

/**
 * Drops the replaced snapshots that are older than the retention time from a record, unless a run needs the files. The workspace
 * of a thread may be in use for much longer. Returns the record to which objects have to be kept.
 */
async function dropOldSnapshots(
  { key, revision, record }: Row<WorkspaceRecord>,
  { records, limits, now, hasOpenRun }: WorkspacePorts,
  signal: AbortSignal,
): Promise<WorkspaceRecord> {
  const next = withoutSnapshotsBefore(record, now() - limits.retentionMs);
  if (next.snapshots.length === record.snapshots.length) return record;
  if (await hasOpenRun(record, signal)) return record;
  // When the record has changed meanwhile, the next sweep drops them.
  return (await records.update(key, next, revision, signal))?.record ?? record;
}

async function sweepFolder(
  { tenant, folder, changedMs }: StoredWorkspace,
  readable: ReadableTenants,
  keeper: WorkspaceKeeper,
  { storage, now }: WorkspacePorts,
  signal: AbortSignal,
): Promise<void> {
  const [id = ""] = folder.split(".", 1);
  if (keeper.has({ tenant, id }) || now() - changedMs < graceMs) return;
  const records = await readable.records(tenant);
  const isNamed = (record: WorkspaceRecord) =>
    record.id === id && record.place === storage.id && record.folder === folder;
  if (records?.some(isNamed) ?? true) return;
  await storage.remove(tenant, folder, signal);
}

/** Whether another host left a workspace on this storage that has to be saved, or removed. */
function isOrphanHere(
  record: WorkspaceRecord,
  keeper: WorkspaceKeeper,
  { storage, host, limits, now }: WorkspacePorts,
): boolean {
  if (record.place !== storage.id || record.holder === host || keeper.has(record)) return false;
  return isUnsaved(record) || now() - lastUsedMs(record) > limits.keepMs;
}

/** Opens and closes a workspace whose host is gone, so that this host saves it. */
async function adopt(
  record: WorkspaceRecord,
  keeper: WorkspaceKeeper,
  { peers, log }: WorkspacePorts,
  signal: AbortSignal,
): Promise<void> {
  const { tenant, id, holder } = record;
  if (holder !== "") {
    const request = { tenant, id, onlyAsk: true };
    if ((await peers.release(holder, request, signal)) !== "silent") return;
  }
  try {
    const request = { tenant, id, runId: id, callId: "", tool: "", files: [], stagedFor: id };
    await using _ = await keeper.open(request, signal);
    log.info({ tenant, id, from: holder }, "workspace of a dead toolhost adopted");
  } catch (error) {
    signal.throwIfAborted();
    log.warn({ err: error, tenant, id }, "workspace of a dead toolhost was not adopted");
  }
}
