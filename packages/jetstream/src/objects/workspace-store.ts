import { bucketOf } from "@reeve/contracts/channel";
import { WorkspaceRecordSchema } from "@reeve/contracts/tool";

/** The object store of snapshots, beside the bucket of their records. */
export const workspaceBucket = `${bucketOf(WorkspaceRecordSchema).name}-bytes`;
