import type { WorkspaceRecord } from "@reeve/contracts/tool";
import { WorkspaceRecordSchema } from "@reeve/contracts/tool";
import { bucketOf } from "@reeve/contracts/channel";
import type { Objects } from "@reeve/jetstream/objects/port";
import type { Table } from "@reeve/jetstream/table/port";

/** What is kept of workspaces. */
export interface Workspaces {
  readonly records: Pick<Table<WorkspaceRecord>, "get" | "delete">;
  readonly snapshots: Pick<Objects, "remove">;
}

/**
 * Deletes a workspace with its snapshot. The folder on a toolhost, which nobody is led to any more, is taken away by
 * that toolhost in its time. One that is not there is no mistake.
 */
export async function deleteWorkspace(
  { records, snapshots }: Workspaces,
  { tenant, id }: { readonly tenant: string; readonly id: string },
  signal: AbortSignal,
): Promise<void> {
  const key = bucketOf(WorkspaceRecordSchema).key({ tenant, workspace: id });
  const row = await records.get(key, signal);
  if (row === undefined) return;
  await records.delete(key, signal);
  if (row.record.snapshot !== "") await snapshots.remove(row.record.snapshot, signal);
}
