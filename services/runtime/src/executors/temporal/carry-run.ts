/**
 * The workflow of a run, without Temporal: when a worker gets the run. It is deterministic, and knows nothing of what the run does:
 * the worker folds the log. Its invariants:
 *
 * T1. At most one owner at a time is asked for. A dispatch that arrives meanwhile is kept, and the last one counts.
 * T2. The run is given out again until an owner says that it has ended, however often owners fail.
 * T3. A dispatch after a park is a new one; after everything else, the run continues under the dispatch of its last claim, with a
 *     higher attempt, which fences off the owner before.
 */
import type { CarriedRun, OwnerOutcome, OwnedRun, RunDispatch } from "./contract.ts";

/** What the workflow uses of Temporal. */
export interface WorkflowCalls {
  /** Gives the run to a worker until it waits or ends. Repeats that until a worker answers. */
  own(owned: OwnedRun): Promise<OwnerOutcome>;
  /** Waits until `isOver` or until the time is over. */
  wait(isOver: () => boolean, timeoutMs: number): Promise<unknown>;
  /** Whether the history is so long that the workflow should continue as a new one. */
  isFull(): boolean;
}

/** Interval at which a parked run is checked although nothing was heard of it: a worker outside of Temporal may have ended it. */
const maxParkedMs = 24 * 3_600_000;
/** Interval at which a run is checked that another worker has. */
const elsewhereMs = 30_000;

/** The dispatches that came and were not given to a worker yet: the last one stands for all. */
export class Inbox {
  #pending: RunDispatch | undefined;

  get isEmpty(): boolean {
    return this.#pending === undefined;
  }

  /** Receives a dispatch. Earlier ones may come again after later ones. */
  receive(dispatch: RunDispatch): void {
    if (dispatch.sequence > (this.#pending?.sequence ?? 0)) this.#pending = dispatch;
  }

  take(): RunDispatch | undefined {
    const taken = this.#pending;
    this.#pending = undefined;
    return taken;
  }
}

/** Carries a run until it ends. Returns what a new workflow continues with; undefined: the run has ended. */
export async function carryRun(
  { tenant, run, pending, ...start }: CarriedRun,
  inbox: Inbox,
  calls: WorkflowCalls,
): Promise<CarriedRun | undefined> {
  let { dispatch, attempts } = start;
  if (pending !== undefined) inbox.receive(pending);
  for (;;) {
    if (dispatch === undefined) {
      await calls.wait(() => !inbox.isEmpty, maxParkedMs);
      dispatch = inbox.take();
      continue;
    }
    const outcome = await calls.own({ tenant, run, dispatch, attempts });
    if (outcome.kind === "ended") return undefined;
    attempts = outcome.attempts;
    if (calls.isFull()) {
      const next = inbox.take();
      return { tenant, run, dispatch, attempts, ...(next && { pending: next }) };
    }
    await calls.wait(() => !inbox.isEmpty, pauseMs(outcome));
    const next = inbox.take();
    // Its own message came again: its relay did not learn that Temporal has it.
    if (next === undefined || next.sequence === dispatch.sequence) continue;
    if (outcome.kind === "again") {
      const afterSequence = Math.max(dispatch.afterSequence, next.afterSequence);
      dispatch = { ...dispatch, afterSequence };
    } else {
      dispatch = next;
      attempts = 0;
    }
  }
}

function pauseMs(outcome: OwnerOutcome): number {
  switch (outcome.kind) {
    case "parked":
      return Math.min(outcome.checkMs ?? maxParkedMs, maxParkedMs);
    case "again":
      return outcome.delayMs;
    default:
      return elsewhereMs;
  }
}
