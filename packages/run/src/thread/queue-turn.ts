import type { Any } from "@bufbuild/protobuf/wkt";
import type { ThreadHead } from "@reeve/contracts/thread";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { ThreadKey } from "@reeve/jetstream/log/thread-log";
import type { ThreadFact } from "./append-thread.ts";
import { appendThread } from "./append-thread.ts";
import { busyThread, deletedThread, fullThread } from "./refusals.ts";
import type { ThreadPorts } from "./thread-ports.ts";
import type { ThreadView } from "./thread-head.ts";
import { activeTurn, openTurn, waitingTurns } from "./thread-head.ts";

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

/** A thread in which a run has its place. */
export interface PlacedRun {
  readonly seen: ThreadView;
  /** Whether the run got its place by this call. */
  readonly isNew: boolean;
}

/**
 * Gives a run its place in a thread: its turn starts if the thread is idle; otherwise the run waits or is refused. A run
 * that has a place keeps it, and one that exists gets none: its turn has ended, or it is not a run of the thread. A refused
 * run leaves nothing in the log.
 */
export async function queueTurn(
  { threads, log }: Pick<ThreadPorts, "threads" | "log">,
  key: ThreadKey,
  before: ThreadView,
  run: QueuedRun,
  signal: AbortSignal,
): Promise<PlacedRun> {
  let isNew = false;
  const decide = async (head: ThreadHead) => {
    isNew = false;
    if (openTurn(head, run.runId) !== undefined) return [];
    // A turn ends only after its run was written, so a run without a log at this point has not had a turn before it,
    // or was deleted.
    const { tail } = await log.read({ tenant: key.tenant, run: run.runId }, emptyTail, signal);
    if (tail.sequence > 0) return [];
    isNew = true;
    return placeOf(key.thread, head, run);
  };
  const seen = await appendThread(threads, key, before, decide, signal);
  return { seen, isNew };
}

function placeOf(
  thread: string,
  head: ThreadHead,
  { runId, runCreated, whenBusy }: QueuedRun,
): readonly ThreadFact[] {
  if (head.deleted) throw deletedThread(thread);
  const waiting = waitingTurns(head);
  const ahead = activeTurn(head) ?? waiting[0];
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
