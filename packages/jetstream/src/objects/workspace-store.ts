import { bucketOf } from "@reeve/contracts/channel";
import { WorkspaceRecordSchema } from "@reeve/contracts/tool";

/** The object store of workspace snapshots. Their records are in a bucket. */
export const workspaceBucket = `${bucketOf(WorkspaceRecordSchema).name}-bytes`;
