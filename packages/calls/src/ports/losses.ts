import type { WorkspaceRecord } from "@reeve/contracts/tool";

/** What a result has to tell of what is gone. */
export type Losses = Pick<WorkspaceRecord, "lost" | "lostMore" | "lostSnapshot">;
