import { randomBytes } from "node:crypto";
import type { FileChange } from "@reeve/contracts/tool";
import { withSnapshot } from "./workspace-record.ts";
import { workspaceSandbox } from "./sandbox/workspace-sandbox.ts";
import type { HeldWorkspace } from "./held-workspace.ts";
import { snapshotWorkspace } from "@reeve/sandbox/files/workspace-archive";
import type { WorkspacePorts } from "./workspace-ports.ts";

/**
 * Saves a workspace in which no call of this host is running. The snapshot before it is deleted once the record names the
 * new one. A call that begins meanwhile stays unsaved, although some of what it does may be in the snapshot. False: its
 * files are gone from their place, and its record is left as it was, for whoever tells what is lost.
 */
export async function saveWorkspace(
  held: HeldWorkspace,
  ports: WorkspacePorts,
  signal: AbortSignal,
): Promise<boolean> {
  const { snapshots } = ports;
  const { revision, unsaved, unsavedMore } = held.record;
  const covered = await settled(held, unsaved, ports, signal);
  const stored = await store(held, ports, signal);
  if (stored === undefined || !isThere(held, ports)) return false;
  const { name, bytes } = stored;
  let before = "";
  // What no record names, because this change is not made, is taken away by the rounds that look for it.
  await held.change((record) => {
    before = record.snapshot;
    return withSnapshot(record, { name, bytes, revision, covered, unsavedMore });
  }, signal);
  // One that stays is taken away in the same way.
  if (before !== "" && before !== name) {
    await snapshots.remove(before, signal).catch(() => undefined);
  }
  return true;
}

function isThere({ key, record }: HeldWorkspace, { place }: WorkspacePorts): boolean {
  return place.has(key.tenant, record.folder);
}

/**
 * Puts a snapshot into the store. An empty workspace needs none, which many runs that only compute have. Undefined: there
 * is none to be saved, and an empty one in its place would be taken for it.
 */
async function store(
  held: HeldWorkspace,
  ports: WorkspacePorts,
  signal: AbortSignal,
): Promise<{ readonly name: string; readonly bytes: number } | undefined> {
  const { snapshots, place, limits } = ports;
  const { key, record } = held;
  const { tenant, id } = key;
  const isEmpty = await place.isEmpty(tenant, record.folder);
  if (!isThere(held, ports)) return undefined;
  if (isEmpty) return { name: "", bytes: 0 };
  const name = `${tenant}/${id}/${randomBytes(8).toString("hex")}`;
  const sandbox = workspaceSandbox(place.sandbox(tenant, record.folder), { quota: limits });
  const archive = snapshotWorkspace(sandbox, limits, signal);
  return { name, bytes: await snapshots.write(name, archive, signal) };
}

/** The changes that have come to their end: ours, and those of hosts at this place that are gone or have no call running. */
async function settled(
  held: HeldWorkspace,
  unsaved: readonly FileChange[],
  { peers, host }: WorkspacePorts,
  signal: AbortSignal,
): Promise<readonly FileChange[]> {
  const others = new Set(unsaved.map((change) => change.host).filter((other) => other !== host));
  const busy = new Set<string>();
  for (const other of others) {
    const answer = await peers.release(other, { ...held.key, onlyAsk: true }, signal);
    if (answer === "busy") busy.add(other);
  }
  return unsaved.filter((change) => !busy.has(change.host));
}
