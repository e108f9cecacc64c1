import { RunLiveness } from "@reeve/contracts/toolhost";
import type { RunTailReader } from "@reeve/jetstream/log/run-log";
import type { ThreadLog } from "@reeve/jetstream/log/thread-log";
import { isTerminal } from "../head/run-status.ts";
import { readThread } from "../thread/read-thread.ts";

/** Says whether runs are open. */
export interface Liveness {
  /** Throws a Failure of kind `unavailable` when it is unknown whether the run exists. */
  ofRun(tenant: string, run: string, signal: AbortSignal): Promise<RunLiveness>;
  /** Returns the ids of the runs that are open turns of a thread. */
  openTurns(tenant: string, thread: string, signal: AbortSignal): Promise<readonly string[]>;
}

/** Returns what the logs say. Of a run, reads only the last batch, which has the end of a run that has ended. */
export function logLiveness({
  runs,
  threads,
}: {
  readonly runs: RunTailReader;
  readonly threads: ThreadLog;
}): Liveness {
  return {
    async ofRun(tenant, run, signal) {
      const { events } = await runs.last({ tenant, run }, signal);
      if (events.length === 0) return RunLiveness.MISSING;
      const hasEnd = events.some(
        ({ event }) => event.case === "status" && isTerminal(event.value.status),
      );
      return hasEnd ? RunLiveness.ENDED : RunLiveness.OPEN;
    },
    async openTurns(tenant, thread, signal) {
      const { openTurns } = await readThread(threads, { tenant, thread }, signal);
      return openTurns.map(({ runId }) => runId);
    },
  };
}
