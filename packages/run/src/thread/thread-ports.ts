import type { Dispatch } from "@reeve/contracts/run";
import type { CancelPorts } from "../commands/cancel-run.ts";
import type { RunLog } from "@reeve/jetstream/log/run-log";
import type { ThreadLog } from "@reeve/jetstream/log/thread-log";
import type { WorkQueue } from "@reeve/jetstream/queue/port";

/** What threads stand on. */
export interface ThreadPorts {
  readonly threads: ThreadLog;
  readonly log: RunLog;
  /** The calls of runs, which are withdrawn when another run takes the place of theirs. */
  readonly journal: CancelPorts["journal"];
  readonly dispatch: Pick<WorkQueue<Dispatch>, "publish" | "holds">;
}
