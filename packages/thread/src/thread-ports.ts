import type { Dispatch } from "@reeve/contracts/run";
import type { Thread } from "@reeve/contracts/thread";
import type { RunLog } from "@reeve/log/run-log";
import type { ThreadLog } from "@reeve/log/thread-log";
import type { WorkQueue } from "@reeve/log/work-queue";
import type { Table } from "@reeve/store/table";

/** What threads stand on. */
export interface ThreadPorts {
  readonly threads: ThreadLog;
  readonly log: RunLog;
  readonly dispatch: Pick<WorkQueue<Dispatch>, "publish">;
  /** The index of threads: follows their logs with a short delay. */
  readonly threadIndex: Table<Thread>;
}
