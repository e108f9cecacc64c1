import type { WorkspaceRecord } from "@reeve/contracts/tool";
import { WorkspaceRecordSchema } from "@reeve/contracts/tool";
import { bucketOf } from "@reeve/contracts/channel";
import type { Objects } from "@reeve/jetstream/objects/port";
import { snapshotNames } from "@reeve/jetstream/objects/workspace-store";
import type { Table } from "@reeve/jetstream/table/port";

/** The stored parts of workspaces: their records and snapshots. */
export interface StoredWorkspaces {
  readonly records: Pick<Table<WorkspaceRecord>, "get" | "delete">;
  readonly snapshots: Pick<Objects, "remove">;
}

/**
 * Deletes the record and all snapshots of a workspace. Its toolhost sweeps the directory later, because no record refers to it
 * any longer. Returns whether there was a record.
 */
export async function deleteWorkspace(
  { records, snapshots }: StoredWorkspaces,
  { tenant, id }: { readonly tenant: string; readonly id: string },
  signal: AbortSignal,
): Promise<boolean> {
  const key = bucketOf(WorkspaceRecordSchema).key({ tenant, workspace: id });
  const row = await records.get(key, signal);
  if (row === undefined) return false;
  await records.delete(key, signal);
  for (const name of snapshotNames(row.record)) await snapshots.remove(name, signal);
  return true;
}
