import type { Any } from "@bufbuild/protobuf/wkt";
import type { ThreadKey } from "@reeve/jetstream/log/thread-log";
import type { ThreadView, ThreadFact } from "./append-thread.ts";
import { appendThread } from "./append-thread.ts";
import { busyThread, deletedThread, fullThread } from "./refusals.ts";
import type { ThreadPorts } from "./thread-ports.ts";
import type { ThreadState } from "./thread-state.ts";
import { activeTurn, turnOf, waitingTurns } from "./thread-state.ts";

/** The most turns of a thread that wait. */
const maxWaiting = 100;
/** Whoever interrupts finds room behind a full queue, which is about to be emptied. */
const maxWithInterrupting = 2 * maxWaiting;

/** What happens to a run whose thread is busy: it is refused, waits its turn, or takes the place of those before it. */
export type WhenBusy = "reject" | "queue" | "interrupt";

export interface QueuedRun {
  readonly runId: string;
  /** The first fact of its log. */
  readonly runCreated: Any;
  readonly whenBusy: WhenBusy;
}

/**
 * Gives a run its place in a thread: its turn begins when none is under way, else it waits or is refused. A run that has
 * its place already keeps it. Nothing is stored of a run that is refused.
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
    const waysOut = "wait for its end, or start with on_busy ON_BUSY_QUEUE or ON_BUSY_INTERRUPT";
    throw busyThread(thread, ahead.runId, waysOut);
  }
  const interrupts = whenBusy === "interrupt";
  if (waiting.length >= (interrupts ? maxWithInterrupting : maxWaiting)) {
    throw fullThread(thread, waiting.length);
  }
  return [{ case: "turnQueued", value: { runId, runCreated, interrupts } }];
}
