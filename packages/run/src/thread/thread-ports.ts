import type { Dispatch } from "@reeve/contracts/run";
import type { CancelPorts } from "../commands/cancel-run.ts";
import type { RunLog } from "@reeve/jetstream/log/run-log";
import type { ThreadLog } from "@reeve/jetstream/log/thread-log";
import type { WorkQueue } from "@reeve/jetstream/queue/port";

/** The stores that threads need. */
export interface ThreadPorts {
  readonly threads: ThreadLog;
  readonly log: RunLog;
  /** Tool calls: those of interrupted runs are cancelled. */
  readonly journal: CancelPorts["journal"];
  readonly dispatch: Pick<WorkQueue<Dispatch>, "publish" | "holds">;
}
