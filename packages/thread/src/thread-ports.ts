import type { Dispatch } from "@reeve/contracts/run";
import type { RunLog } from "@reeve/log/run-log";
import type { ThreadLog } from "@reeve/log/thread-log";
import type { WorkQueue } from "@reeve/log/work-queue";

/** What threads stand on. */
export interface ThreadPorts {
  readonly threads: ThreadLog;
  readonly log: RunLog;
  readonly dispatch: Pick<WorkQueue<Dispatch>, "publish">;
}
