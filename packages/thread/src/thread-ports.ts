import type { Dispatch } from "@reeve/contracts/run";
import type { CancelPorts } from "@reeve/log/cancel-run";
import type { RunLog } from "@reeve/log/run-log";
import type { ThreadLog } from "@reeve/log/thread-log";
import type { WorkQueue } from "@reeve/log/work-queue";

/** What threads stand on. */
export interface ThreadPorts {
  readonly threads: ThreadLog;
  readonly log: RunLog;
  /** The calls of runs, which are withdrawn when another run takes the place of theirs. */
  readonly journal: CancelPorts["journal"];
  readonly dispatch: Pick<WorkQueue<Dispatch>, "publish" | "holds">;
}
