import { randomBytes } from "node:crypto";
import type { WorkspaceKey } from "@reeve/calls/ports/workspaces";
import { ErrorReason } from "@reeve/contracts/error";
import type { WorkspaceRecord } from "@reeve/contracts/tool";
import type { Row } from "@reeve/jetstream/table/port";
import { Backoff } from "@reeve/platform/async/retry/backoff";
import { sleep } from "@reeve/platform/async/sleep";
import { Failure } from "@reeve/platform/failure";
import { restoreWorkspace } from "@reeve/sandbox/files/workspace-archive";
import { recordKeyOf } from "./held-workspace.ts";
import { workspaceSandbox } from "./sandbox/workspace-sandbox.ts";
import type { WorkspacePorts } from "./workspace-ports.ts";
import { newRecord, withHolder, withTakeover } from "./workspace-record.ts";

/** How many times another host may change the record first before the call fails. */
const maxAttempts = 20;
/** Delays before the holder of a workspace in use is asked again to release it. */
const busyBackoff = { firstDelayMs: 50, maxDelayMs: 1_000 };
/** How long the holder may use the workspace before the call fails. */
const maxBusyMs = 600_000;

/**
 * Takes a workspace to this host's storage. Uses files that are already there as they are. Asks another holder to release the
 * workspace, and waits at most ten minutes until its calls have ended. A holder that does not reply loses the workspace: changes
 * that are not in the last snapshot are then lost, and the record lists the calls that made them. Nothing can use the workspace
 * before it is complete.
 */
export async function takeWorkspace(
  key: WorkspaceKey,
  ports: WorkspacePorts,
  signal: AbortSignal,
): Promise<Row<WorkspaceRecord>> {
  const backoff = new Backoff(busyBackoff);
  const deadlineMs = ports.now() + maxBusyMs;
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    signal.throwIfAborted();
    const row = await ports.records.get(recordKeyOf(key), signal);
    if (row !== undefined && !isHere(row.record, key, ports) && hasOtherHolder(row.record, ports)) {
      const request = { ...key, onlyAsk: false };
      const reply = await ports.peers.release(row.record.holder, request, signal);
      if (reply === "busy") {
        if (ports.now() > deadlineMs) throw busy(key, row.record);
        await sleep(backoff.next(), signal);
        attempt = 0;
        continue;
      }
      // A release changes the record. The workspace of a silent host is taken as its record says.
      if (reply === "released" && (await isChanged(row, ports, signal))) continue;
    }
    const taken = await takeVersion(key, row, ports, signal);
    if (taken !== undefined) return taken;
  }
  const problem = `toolhosts keep taking the workspace ${key.id} from each other; call again`;
  throw new Failure("unavailable", ErrorReason.UNAVAILABLE, problem);
}

function busy({ id }: WorkspaceKey, { holder }: WorkspaceRecord): Failure {
  const problem = `the workspace ${id} has been in use on another toolhost, ${holder}, for ten minutes; call again when its calls there have ended`;
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, problem);
}

async function isChanged(
  row: Row<WorkspaceRecord>,
  { records }: WorkspacePorts,
  signal: AbortSignal,
): Promise<boolean> {
  return (await records.get(row.key, signal))?.revision !== row.revision;
}

/** Takes one version of the record. Returns undefined when the record has changed. */
async function takeVersion(
  key: WorkspaceKey,
  row: Row<WorkspaceRecord> | undefined,
  ports: WorkspacePorts,
  signal: AbortSignal,
): Promise<Row<WorkspaceRecord> | undefined> {
  const { records, storage, host, now } = ports;
  if (row === undefined) {
    // A folder of this name belongs to a workspace that was deleted.
    const folder = storage.has(key.tenant, key.id) ? newFolder(key) : key.id;
    const placement = { holder: host, place: storage.id, folder };
    return await records.create(recordKeyOf(key), newRecord(key, placement, now()), signal);
  }
  const { record, revision } = row;
  if (isHere(record, key, ports)) {
    if (record.holder === host) return row;
    return await records.update(row.key, withHolder(record, host), revision, signal);
  }
  const folder = newFolder(key);
  try {
    const isComplete = await restoreSnapshot(key, folder, record, ports, signal);
    if (isComplete || !(await isChanged(row, ports, signal))) {
      const placement = { holder: host, place: storage.id, folder };
      const next = withTakeover(record, placement, !isComplete, now());
      const taken = await records.update(row.key, next, revision, signal);
      if (taken !== undefined) {
        ports.log.info({ ...key, from: record.holder, lost: next.lost.length }, "workspace taken");
        return taken;
      }
    }
  } catch (error) {
    await storage.remove(key.tenant, folder, signal).catch(() => undefined);
    throw error;
  }
  await storage.remove(key.tenant, folder, signal);
  return undefined;
}

function newFolder({ id }: WorkspaceKey): string {
  return `${id}.${randomBytes(4).toString("hex")}`;
}

/** Restores the last snapshot to a folder. Returns false when the record names a snapshot that is gone. */
async function restoreSnapshot(
  { tenant }: WorkspaceKey,
  folder: string,
  { snapshot }: WorkspaceRecord,
  { storage, snapshots, limits }: WorkspacePorts,
  signal: AbortSignal,
): Promise<boolean> {
  if (snapshot === "") return true;
  const archive = await snapshots.read(snapshot, signal);
  if (archive === undefined) return false;
  const sandbox = workspaceSandbox(storage.sandbox(tenant, folder), { quota: limits });
  await restoreWorkspace(sandbox, archive, signal);
  return true;
}

function isHere(
  { place, folder }: WorkspaceRecord,
  { tenant }: WorkspaceKey,
  { storage }: WorkspacePorts,
): boolean {
  return place === storage.id && storage.has(tenant, folder);
}

function hasOtherHolder({ holder }: WorkspaceRecord, { host }: WorkspacePorts): boolean {
  return holder !== "" && holder !== host;
}
