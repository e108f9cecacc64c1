import { randomBytes } from "node:crypto";
import type { WorkspaceRecord } from "@reeve/contracts/tool";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { pause } from "@reeve/platform/async/patiently";
import type { Row } from "@reeve/jetstream/table/port";
import type { WorkspaceKey } from "@reeve/calls/ports/workspaces";
import { newRecord, withHolder, withTakeover } from "./workspace-record.ts";
import { recordKeyOf } from "./held-workspace.ts";
import { workspaceSandbox } from "./sandbox/workspace-sandbox.ts";
import { restoreWorkspace } from "@reeve/sandbox/files/workspace-archive";
import type { WorkspacePorts } from "./workspace-ports.ts";

/** How often somebody else may be first before the call gives up. */
const maxAttempts = 20;
/** How long another host is left alone that has calls running in the workspace. */
const firstDelayMs = 50;
const longestDelayMs = 1_000;
/** How long it may be busy until the call gives up. */
const maxBusyMs = 600_000;

/**
 * Gets a workspace to this place. One that lies here is used as it is; one that another host has is asked for, for as long
 * as calls are running there, but ten minutes at most; a host that does not answer loses it. What is not in its last snapshot is then gone, and the
 * record says whose changes that were. Nobody uses it before it is whole.
 */
export async function takeWorkspace(
  key: WorkspaceKey,
  ports: WorkspacePorts,
  signal: AbortSignal,
): Promise<Row<WorkspaceRecord>> {
  let delayMs = firstDelayMs;
  const givesUpMs = ports.now() + maxBusyMs;
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    signal.throwIfAborted();
    const row = await ports.records.get(recordKeyOf(key), signal);
    if (row !== undefined && !isHere(row.record, key, ports) && hasOtherHolder(row.record, ports)) {
      const asked = { ...key, onlyAsk: false };
      const answer = await ports.peers.release(row.record.holder, asked, signal);
      if (answer === "busy") {
        if (ports.now() > givesUpMs) throw busy(key, row.record);
        await pause(delayMs, signal);
        delayMs = Math.min(delayMs * 2, longestDelayMs);
        attempt = 0;
        continue;
      }
      // What was released has another version now; what is silent is taken as it was.
      if (answer === "released" && (await changed(row, ports, signal))) continue;
    }
    const taken = await takeVersion(key, row, ports, signal);
    if (taken !== undefined) return taken;
  }
  const problem = `the workspace ${key.id} is taken by one toolhost after another; call again`;
  throw new Failure("unavailable", ErrorReason.UNAVAILABLE, problem);
}

function busy({ id }: WorkspaceKey, { holder }: WorkspaceRecord): Failure {
  const problem = `the workspace ${id} is in use at another toolhost, ${holder}, for ten minutes; call again when its calls there have ended`;
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, problem);
}

async function changed(
  row: Row<WorkspaceRecord>,
  { records }: WorkspacePorts,
  signal: AbortSignal,
): Promise<boolean> {
  return (await records.get(row.key, signal))?.revision !== row.revision;
}

/** Takes one version of the record. Undefined: there is another one by now. */
async function takeVersion(
  key: WorkspaceKey,
  row: Row<WorkspaceRecord> | undefined,
  ports: WorkspacePorts,
  signal: AbortSignal,
): Promise<Row<WorkspaceRecord> | undefined> {
  const { records, place, host, now } = ports;
  if (row === undefined) {
    // What lies here under its name belonged to one that was deleted.
    const folder = place.has(key.tenant, key.id) ? freshFolder(key) : key.id;
    const placed = { holder: host, place: place.id, folder };
    return await records.create(recordKeyOf(key), newRecord(key, placed, now()), signal);
  }
  const { record, revision } = row;
  if (isHere(record, key, ports)) {
    if (record.holder === host) return row;
    return await records.update(row.key, withHolder(record, host), revision, signal);
  }
  const folder = freshFolder(key);
  try {
    const isWhole = await lay(key, folder, record, ports, signal);
    if (isWhole || !(await changed(row, ports, signal))) {
      const placed = { holder: host, place: place.id, folder };
      const next = withTakeover(record, placed, !isWhole, now());
      const taken = await records.update(row.key, next, revision, signal);
      if (taken !== undefined) {
        ports.log.info({ ...key, from: record.holder, lost: next.lost.length }, "workspace taken");
        return taken;
      }
    }
  } catch (error) {
    await place.remove(key.tenant, folder, signal).catch(() => undefined);
    throw error;
  }
  await place.remove(key.tenant, folder, signal);
  return undefined;
}

function freshFolder({ id }: WorkspaceKey): string {
  return `${id}.${randomBytes(4).toString("hex")}`;
}

/** Lays the last snapshot into a folder. False: there should be one, and there is none. */
async function lay(
  { tenant }: WorkspaceKey,
  folder: string,
  { snapshot }: WorkspaceRecord,
  { place, snapshots, limits }: WorkspacePorts,
  signal: AbortSignal,
): Promise<boolean> {
  if (snapshot === "") return true;
  const archive = await snapshots.read(snapshot, signal);
  if (archive === undefined) return false;
  const sandbox = workspaceSandbox(place.sandbox(tenant, folder), { quota: limits });
  await restoreWorkspace(sandbox, archive, signal);
  return true;
}

function isHere(
  { place: id, folder }: WorkspaceRecord,
  { tenant }: WorkspaceKey,
  { place }: WorkspacePorts,
): boolean {
  return id === place.id && place.has(tenant, folder);
}

function hasOtherHolder({ holder }: WorkspaceRecord, { host }: WorkspacePorts): boolean {
  return holder !== "" && holder !== host;
}
