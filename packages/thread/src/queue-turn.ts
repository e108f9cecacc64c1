import type { Any } from "@bufbuild/protobuf/wkt";
import { ErrorReason } from "@reeve/contracts/error";
import type { ThreadKey } from "@reeve/log/thread-log";
import { Failure } from "@reeve/platform/failure";
import type { ThreadFact } from "./commit-thread.ts";
import { commitThread } from "./commit-thread.ts";
import type { ThreadPorts } from "./thread-ports.ts";
import type { ThreadState } from "./thread-state.ts";
import { activeTurn, turnOf, waitingTurns } from "./thread-state.ts";

/** The most turns of a thread that wait. */
const mostWaiting = 100;

/** What happens to a run whose thread is busy: it is refused, or it waits its turn. */
export type WhenBusy = "reject" | "queue";

export interface QueuedRun {
  readonly runId: string;
  /** The first fact of its log. */
  readonly runCreated: Any;
}

/**
 * Gives a run its place in a thread: its turn begins when none is under way, else it waits or is refused. A run that has
 * its place already keeps it. Nothing is stored of a run that is refused.
 */
export function queueTurn(
  { threads }: Pick<ThreadPorts, "threads">,
  key: ThreadKey,
  { runId, runCreated }: QueuedRun,
  whenBusy: WhenBusy,
  signal: AbortSignal,
): Promise<ThreadState> {
  return commitThread(
    threads,
    key,
    (state) => {
      if (turnOf(state, runId) !== undefined) return [];
      const queued: ThreadFact = { case: "turnQueued", value: { runId, runCreated } };
      const active = activeTurn(state);
      const waiting = waitingTurns(state);
      if (active === undefined && waiting.length === 0) {
        return [queued, { case: "turnStarted", value: { runId } }];
      }
      const ahead = active?.runId ?? waiting[0]?.runId ?? "";
      if (whenBusy === "reject") throw busy(key.thread, ahead);
      if (waiting.length >= mostWaiting) throw full(key.thread);
      return [queued];
    },
    signal,
  );
}

function busy(thread: string, runId: string): Failure {
  return new Failure(
    "precondition",
    ErrorReason.THREAD_BUSY,
    `thread ${thread} is busy with run ${runId}; wait for its end, or start with on_busy ON_BUSY_QUEUE or ON_BUSY_INTERRUPT`,
    { metadata: { thread_id: thread, run_id: runId } },
  );
}

function full(thread: string): Failure {
  return new Failure(
    "exhausted",
    ErrorReason.THREAD_QUEUE_FULL,
    `${mostWaiting} runs wait for their turn in thread ${thread}; wait for some to end, or cancel them`,
    { metadata: { thread_id: thread } },
  );
}
