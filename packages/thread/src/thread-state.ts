import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { ErrorReason } from "@reeve/contracts/error";
import type { ThreadEvent, TurnEnded, TurnQueued } from "@reeve/contracts/thread";
import { Failure } from "@reeve/platform/failure";

/** What the log of a thread says. Never changed in place. */
export interface ThreadState {
  /** Sequence of the last event; 0: there is no such thread. */
  readonly sequence: number;
  /** All turns, in the order in which their runs were accepted. */
  readonly turns: readonly Turn[];
}

/** A run's place in a thread. */
export interface Turn {
  readonly runId: string;
  readonly queued: TurnQueued;
  readonly queuedAt: Timestamp | undefined;
  readonly isStarted: boolean;
  readonly ended: TurnEnded | undefined;
  readonly endedAt: Timestamp | undefined;
}

export const emptyThread: ThreadState = { sequence: 0, turns: [] };

/** The state after `events`. Throws a Failure when a newer version wrote one of them. */
export function foldThread(state: ThreadState, events: readonly ThreadEvent[]): ThreadState {
  return events.reduce(applyToThread, state);
}

function applyToThread(state: ThreadState, envelope: ThreadEvent): ThreadState {
  const { event, sequence, time } = envelope;
  const next = { ...state, sequence };
  switch (event.case) {
    case "turnQueued": {
      const turn: Turn = {
        runId: event.value.runId,
        queued: event.value,
        queuedAt: time,
        isStarted: false,
        ended: undefined,
        endedAt: undefined,
      };
      return { ...next, turns: [...state.turns, turn] };
    }
    case "turnStarted":
      return amendTurn(next, event.value.runId, { isStarted: true });
    case "turnEnded":
      return amendTurn(next, event.value.runId, { ended: event.value, endedAt: time });
    case undefined:
      throw new Failure(
        "internal",
        ErrorReason.INTERNAL,
        `event ${sequence} of thread ${envelope.threadId} was written by a newer version; upgrade this service`,
      );
  }
}

function amendTurn(state: ThreadState, runId: string, change: Partial<Turn>): ThreadState {
  return {
    ...state,
    turns: state.turns.map((turn) => (turn.runId === runId ? { ...turn, ...change } : turn)),
  };
}

/** The turn that is under way. */
export function activeTurn({ turns }: ThreadState): Turn | undefined {
  return turns.find(({ isStarted, ended }) => isStarted && ended === undefined);
}

/** The turns that wait, in order. */
export function waitingTurns({ turns }: ThreadState): readonly Turn[] {
  return turns.filter(({ isStarted, ended }) => !isStarted && ended === undefined);
}

export function turnOf({ turns }: ThreadState, runId: string): Turn | undefined {
  return turns.find((turn) => turn.runId === runId);
}
