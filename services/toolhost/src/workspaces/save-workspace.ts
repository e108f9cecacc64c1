import type { FileChange } from "@reeve/contracts/tool";
import { snapshotFolder } from "@reeve/jetstream/objects/workspace-store";
import { snapshotWorkspace } from "@reeve/sandbox/files/workspace-archive";
import type { HeldWorkspace } from "./held-workspace.ts";
import { workspaceSandbox } from "./sandbox/workspace-sandbox.ts";
import type { WorkspacePorts } from "./workspace-ports.ts";
import { withSnapshot } from "./workspace-record.ts";

/**
 * Saves a workspace that no call of this host uses. Changes of a call that starts meanwhile stay unsaved, although the snapshot
 * may contain some of them. Returns false when the files are gone from their storage: the record is then unchanged, and the host
 * that takes the workspace reports the losses. A snapshot to which the record does not refer, because it was replaced or because
 * this host died before it wrote the record, is deleted by a sweep: only that knows whether another host has stored it again.
 */
export async function saveWorkspace(
  held: HeldWorkspace,
  ports: WorkspacePorts,
  signal: AbortSignal,
): Promise<boolean> {
  const { limits, now } = ports;
  const { revision, unsaved, unsavedMore } = held.record;
  const covered = await endedChanges(held, unsaved, ports, signal);
  const stored = await storeSnapshot(held, ports, signal);
  if (stored === undefined || !hasFiles(held, ports)) return false;
  const savedMs = now();
  await held.change((record) => {
    const isDisturbed = held.users > 0 || record.revision !== revision;
    const snapshot = { ...stored, revision, covered, unsavedMore, savedMs, isDisturbed };
    return withSnapshot(record, snapshot, limits.snapshots);
  }, signal);
  return true;
}

function hasFiles({ key, record }: HeldWorkspace, { storage }: WorkspacePorts): boolean {
  return storage.has(key.tenant, record.folder);
}

/**
 * Stores a snapshot. An empty workspace needs none: many runs only compute. Returns undefined when the files are gone, because an
 * empty snapshot would replace the good one.
 */
async function storeSnapshot(
  held: HeldWorkspace,
  ports: WorkspacePorts,
  signal: AbortSignal,
): Promise<{ readonly name: string; readonly bytes: number } | undefined> {
  const { snapshots, storage, limits } = ports;
  const { key, record } = held;
  const { tenant } = key;
  const isEmpty = await storage.isEmpty(tenant, record.folder);
  if (!hasFiles(held, ports)) return undefined;
  if (isEmpty) return { name: "", bytes: 0 };
  const sandbox = workspaceSandbox(storage.sandbox(tenant, record.folder), { quota: limits });
  const archive = snapshotWorkspace(sandbox, limits, signal);
  const { name, sizeBytes: bytes } = await snapshots.write(snapshotFolder(key), archive, signal);
  return { name, bytes };
}

/** Returns the changes whose calls have ended: those of this host, and those of hosts on this storage that run no call. */
async function endedChanges(
  held: HeldWorkspace,
  unsaved: readonly FileChange[],
  { peers, host }: WorkspacePorts,
  signal: AbortSignal,
): Promise<readonly FileChange[]> {
  const others = new Set(unsaved.map((change) => change.host).filter((other) => other !== host));
  const busy = new Set<string>();
  for (const other of others) {
    const reply = await peers.release(other, { ...held.key, onlyAsk: true }, signal);
    if (reply === "busy") busy.add(other);
  }
  return unsaved.filter((change) => !busy.has(change.host));
}
