import { objectStoreOf } from "@reeve/contracts/channel";
import type { WorkspaceRecord, WorkspaceSnapshot } from "@reeve/contracts/tool";
import { WorkspaceRecordSchema } from "@reeve/contracts/tool";

/** The object store of workspace snapshots. Their records are in a bucket. */
export const workspaceBucket = objectStoreOf(WorkspaceRecordSchema);

/** Returns the folder of the snapshots of a workspace in the object store. No two workspaces share objects. */
export function snapshotFolder({ tenant, id }: Pick<WorkspaceRecord, "tenant" | "id">): string {
  return `${tenant}/${id}`;
}

/** Returns the name of a snapshot of a workspace in the object store. Empty: the workspace had no files. */
export function snapshotName(
  workspace: Pick<WorkspaceRecord, "tenant" | "id">,
  { digest }: Pick<WorkspaceSnapshot, "digest">,
): string {
  if (digest.length === 0) return "";
  return `${snapshotFolder(workspace)}/${Buffer.from(digest).toString("hex")}`;
}

/** Returns the names of the objects to which the record of a workspace refers. */
export function snapshotNames(record: WorkspaceRecord): ReadonlySet<string> {
  const names = record.snapshots.map((snapshot) => snapshotName(record, snapshot));
  return new Set([...names, record.snapshot].filter((name) => name !== ""));
}
