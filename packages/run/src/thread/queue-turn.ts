import type { Any } from "@bufbuild/protobuf/wkt";
import type { ThreadKey } from "@reeve/jetstream/log/thread-log";
import type { ThreadView, ThreadFact } from "./append-thread.ts";
import { appendThread } from "./append-thread.ts";
import { busyThread, deletedThread, fullThread } from "./refusals.ts";
import type { ThreadPorts } from "./thread-ports.ts";
import type { ThreadState } from "./thread-state.ts";
import { activeTurn, turnOf, waitingTurns } from "./thread-state.ts";

/** Turns of a thread that may wait. */
const maxWaiting = 100;
/** An interrupting run may exceed the limit, because it empties the queue. */
const maxWithInterrupting = 2 * maxWaiting;

/** What happens to a run whose thread is busy: it is refused, waits for its turn, or cancels the runs before it. */
export type WhenBusy = "reject" | "queue" | "interrupt";

export interface QueuedRun {
  readonly runId: string;
  /** The first fact of the run's log. */
  readonly runCreated: Any;
  readonly whenBusy: WhenBusy;
}

/**
 * Gives a run its place in a thread: its turn starts if the thread is idle; otherwise the run waits or is refused. A run
 * that has a place keeps it. A refused run leaves nothing in the log.
 */
export function queueTurn(
  { threads }: Pick<ThreadPorts, "threads">,
  key: ThreadKey,
  seen: ThreadView,
  run: QueuedRun,
  signal: AbortSignal,
): Promise<ThreadView> {
  return appendThread(threads, key, seen, (state) => placeOf(key.thread, state, run), signal);
}

function placeOf(
  thread: string,
  state: ThreadState,
  { runId, runCreated, whenBusy }: QueuedRun,
): readonly ThreadFact[] {
  if (turnOf(state, runId) !== undefined) return [];
  if (state.isDeleted) throw deletedThread(thread);
  const waiting = waitingTurns(state);
  const ahead = activeTurn(state) ?? waiting[0];
  if (ahead === undefined) {
    return [
      { case: "turnQueued", value: { runId, runCreated } },
      { case: "turnStarted", value: { runId } },
    ];
  }
  if (whenBusy === "reject") {
    const remedy = "wait for its end, or start with on_busy ON_BUSY_QUEUE or ON_BUSY_INTERRUPT";
    throw busyThread(thread, ahead.runId, remedy);
  }
  const interrupts = whenBusy === "interrupt";
  if (waiting.length >= (interrupts ? maxWithInterrupting : maxWaiting)) {
    throw fullThread(thread, waiting.length);
  }
  return [{ case: "turnQueued", value: { runId, runCreated, interrupts } }];
}
