import type { WorkspaceRecord } from "@reeve/contracts/tool";
import { pause } from "@reeve/platform/async/patiently";
import type { Row } from "@reeve/jetstream/table/port";
import { isUnsaved, lastUsedMs } from "./workspace-record.ts";
import type { StoredWorkspace } from "@reeve/sandbox/storage/workspace-storage";
import type { WorkspaceKeeper } from "./workspace-keeper.ts";
import type { WorkspacePorts } from "./workspace-ports.ts";

/** How long what nobody names may be on its way to being named. */
const graceMs = 3_600_000;
/** How many workspaces of lost hosts at this place are taken up in one round. */
const maxAdopted = 20;

/**
 * Every `intervalMs`, until `signal` aborts: deletes records that nobody has used for the retention time, snapshots that no
 * record names, and folders here of workspaces that are elsewhere by now. Takes up those at this place whose host is gone.
 */
export async function sweepWorkspaces(
  keeper: WorkspaceKeeper,
  ports: WorkspacePorts,
  intervalMs: number,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    await pause(intervalMs, signal);
    await sweepOnce(keeper, ports, signal);
  }
}

/** One such round. What cannot be done is logged, and done in the next. */
export async function sweepOnce(
  keeper: WorkspaceKeeper,
  ports: WorkspacePorts,
  signal: AbortSignal,
): Promise<void> {
  const { log } = ports;
  // Objects and folders first: what is named later than they were listed is not mistaken for nobody's.
  const objects = await ports.snapshots.list(signal);
  const folders = await ports.place.list();
  const rows = await ports.records.list("", signal);
  const kept = new Map<string, WorkspaceRecord>();
  for (const row of rows) {
    const isOver = await isExpired(row, keeper, ports, signal);
    const isDeleted = isOver && (await deleted(row, ports, signal));
    if (isDeleted) keeper.drop(row.record);
    else kept.set(row.key, row.record);
  }
  const named = new Set([...kept.values()].map(({ snapshot }) => snapshot));
  for (const { name, storedAt } of objects) {
    if (named.has(name) || ports.now() - storedAt.getTime() < graceMs) continue;
    await ports.snapshots.remove(name, signal);
  }
  await ports.snapshots.cleanUp(graceMs, signal);
  for (const folder of folders) {
    try {
      await tidyFolder(folder, kept, keeper, ports, signal);
    } catch (error) {
      signal.throwIfAborted();
      log.warn({ err: error, folder: folder.folder }, "folder of a workspace not taken away");
    }
  }
  const orphans = [...kept.values()].filter((record) => isOrphanHere(record, keeper, ports));
  for (const record of orphans.slice(0, maxAdopted)) await adopt(record, keeper, ports, signal);
}

async function isExpired(
  { record }: Row<WorkspaceRecord>,
  keeper: WorkspaceKeeper,
  { now, limits, hasOpenRun }: WorkspacePorts,
  signal: AbortSignal,
): Promise<boolean> {
  if (keeper.isUsed(record) || now() - lastUsedMs(record) <= limits.retentionMs) return false;
  // A run may wait for a person for longer, and goes on with its files then.
  return !(await hasOpenRun(record, signal));
}

async function deleted(
  { key, revision, record }: Row<WorkspaceRecord>,
  { records, snapshots, log }: WorkspacePorts,
  signal: AbortSignal,
): Promise<boolean> {
  if (!(await records.deleteVersion(key, revision, signal))) return false;
  if (record.snapshot !== "") await snapshots.remove(record.snapshot, signal);
  log.info({ tenant: record.tenant, id: record.id }, "workspace deleted after its retention");
  return true;
}

async function tidyFolder(
  { tenant, folder, changedMs }: StoredWorkspace,
  kept: ReadonlyMap<string, WorkspaceRecord>,
  keeper: WorkspaceKeeper,
  { place, now }: WorkspacePorts,
  signal: AbortSignal,
): Promise<void> {
  const [id = ""] = folder.split(".", 1);
  const record = kept.get(`${tenant}.${id}`);
  const isNamed = record?.place === place.id && record.folder === folder;
  if (isNamed || keeper.has({ tenant, id }) || now() - changedMs < graceMs) return;
  await place.remove(tenant, folder, signal);
}

/** Whether a workspace lies here that another host had, and needs somebody: it is not saved, or nobody takes it away. */
function isOrphanHere(
  record: WorkspaceRecord,
  keeper: WorkspaceKeeper,
  { place, host, limits, now }: WorkspacePorts,
): boolean {
  if (record.place !== place.id || record.holder === host || keeper.has(record)) return false;
  return isUnsaved(record) || now() - lastUsedMs(record) > limits.keepMs;
}

async function adopt(
  record: WorkspaceRecord,
  keeper: WorkspaceKeeper,
  { peers, log }: WorkspacePorts,
  signal: AbortSignal,
): Promise<void> {
  const { tenant, id, holder } = record;
  if (holder !== "") {
    const asked = { tenant, id, onlyAsk: true };
    if ((await peers.release(holder, asked, signal)) !== "silent") return;
  }
  try {
    const wanted = { tenant, id, runId: id, callId: "", tool: "", files: [] };
    await using _ = await keeper.open(wanted, signal);
    log.info({ tenant, id, from: holder }, "workspace of a lost toolhost taken up");
  } catch (error) {
    signal.throwIfAborted();
    log.warn({ err: error, tenant, id }, "workspace of a lost toolhost not taken up");
  }
}
