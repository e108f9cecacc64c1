import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { ThreadEvent, TurnEnded, TurnQueued } from "@reeve/contracts/thread";
import { newerVersion } from "../head/newer-version.ts";

/** The fold of a thread's log. Never changed in place. */
export interface ThreadState {
  /** Sequence of the last event; 0: the thread does not exist. */
  readonly sequence: number;
  /** All turns in the order in which their runs were accepted. */
  readonly turns: readonly Turn[];
  readonly isDeleted: boolean;
}

/** The place of a run in a thread. */
export interface Turn {
  readonly runId: string;
  readonly queued: TurnQueued;
  readonly queuedAt: Timestamp | undefined;
  readonly isStarted: boolean;
  readonly ended: TurnEnded | undefined;
  readonly endedAt: Timestamp | undefined;
}

export const emptyThread: ThreadState = { sequence: 0, turns: [], isDeleted: false };

/** Returns the state after `events`. Throws a Failure for an event that only a newer version knows. */
export function foldThread(before: ThreadState, events: readonly ThreadEvent[]): ThreadState {
  if (events.length === 0) return before;
  const turns = new Map(before.turns.map((turn) => [turn.runId, turn]));
  const amend = (runId: string, change: Partial<Turn>) => {
    const turn = turns.get(runId);
    if (turn !== undefined) turns.set(runId, { ...turn, ...change });
  };
  let { sequence, isDeleted } = before;
  for (const { event, time, ...envelope } of events) {
    ({ sequence } = envelope);
    switch (event.case) {
      case "turnQueued":
        turns.set(event.value.runId, {
          runId: event.value.runId,
          queued: event.value,
          queuedAt: time,
          isStarted: false,
          ended: undefined,
          endedAt: undefined,
        });
        break;
      case "turnStarted":
        amend(event.value.runId, { isStarted: true });
        break;
      case "turnEnded":
        amend(event.value.runId, { ended: event.value, endedAt: time });
        break;
      case "threadDeleted":
        isDeleted = true;
        break;
      case undefined:
        throw newerVersion(`thread ${envelope.threadId}`, sequence);
    }
  }
  return { sequence, turns: [...turns.values()], isDeleted };
}

/** Returns the turn in progress. */
export function activeTurn({ turns }: ThreadState): Turn | undefined {
  return turns.find(({ isStarted, ended }) => isStarted && ended === undefined);
}

/** Returns the waiting turns in order. */
export function waitingTurns({ turns }: ThreadState): readonly Turn[] {
  return turns.filter(({ isStarted, ended }) => !isStarted && ended === undefined);
}

/** Returns the turns that are in progress or wait, in order. */
export function openTurns({ turns }: ThreadState): readonly Turn[] {
  return turns.filter(({ ended }) => ended === undefined);
}

/** Returns the last open turn that cancels all open turns before it. */
export function interruptingTurn(state: ThreadState): Turn | undefined {
  return openTurns(state).findLast(({ queued }) => queued.interrupts);
}

export function turnOf({ turns }: ThreadState, runId: string): Turn | undefined {
  return turns.find((turn) => turn.runId === runId);
}
