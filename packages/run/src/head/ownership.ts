import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { RunClaimed, RunEvent } from "@reeve/contracts/run";
import { isTerminal } from "./run-status.ts";

/**
 * Who owns a run, or where it is parked: the part of the head that decides whether the run needs a dispatch. Never changed
 * in place.
 */
export interface Ownership {
  /** Whether the log says what the run is; false: there is no such run. */
  readonly isCreated: boolean;
  /** The thread of the run; empty: none. */
  readonly threadId: string;
  /** Sequence of the last event that is folded in. */
  readonly lastSequence: number;
  /** The last claim. */
  readonly claim: RunClaimed | undefined;
  /** Sequence at which the run was parked; undefined while it has an owner, or had none yet. */
  readonly parkedAt: number | undefined;
  /** When a parked run has to be woken at the latest, in milliseconds since the epoch. Undefined: no time limits its wait. */
  readonly wakeAtMs: number | undefined;
  /** Sequence of the terminal status; only records follow it. */
  readonly endSequence: number | undefined;
}

export const noOwnership: Ownership = {
  isCreated: false,
  threadId: "",
  lastSequence: 0,
  claim: undefined,
  parkedAt: undefined,
  wakeAtMs: undefined,
  endSequence: undefined,
};

/**
 * Returns the ownership after more events. Kinds that only a newer version knows count as events that change nothing but
 * the last sequence, so that a sweeper keeps serving runs of newer workers during an upgrade.
 */
export function foldOwnership(before: Ownership, events: readonly RunEvent[]): Ownership {
  return events.reduce(applyToOwnership, before);
}

/** Applies one event to an ownership, or to anything that has one, such as a head. */
export function applyToOwnership<Owned extends Ownership>(
  before: Owned,
  { event, sequence }: RunEvent,
): Owned {
  const lastSequence = sequence;
  switch (event.case) {
    case "runCreated":
      return { ...before, lastSequence, isCreated: true, threadId: event.value.threadId };
    case "runClaimed":
      return { ...before, lastSequence, claim: event.value, parkedAt: undefined };
    case "runParked": {
      const { wakeAt } = event.value;
      const wakeAtMs = wakeAt && timestampMs(wakeAt);
      return { ...before, lastSequence, parkedAt: sequence, wakeAtMs };
    }
    case "status":
      return isTerminal(event.value.status)
        ? { ...before, lastSequence, endSequence: sequence }
        : { ...before, lastSequence };
    case "runPrepared":
    case "step":
    case "text":
    case "reasoning":
    case "textVoided":
    case "toolCall":
    case "toolCallStarted":
    case "toolResult":
    case "mcpProgress":
    case "approval":
    case "subtask":
    case "plan":
    case "context":
    case "usage":
    case "modelCallStarted":
    case "modelTurn":
    case "modelCallFailed":
    case "modelRetryDue":
    case "tokensCounted":
    case "clientCall":
    case "pluginsPinned":
    case "workflowPrepared":
    case "mediaPrepared":
    case "workflowContinued":
    case "mediaCallStarted":
    case "mediaCallEnded":
    case "remoteTask":
    case "pluginHookFinished":
    case "runEnding":
    case "messageSubmitted":
    case "messageInjected":
    case "memoryWritten":
    case "todosChanged":
    case "cancelRequested":
    case "budgetExceeded":
    case "error":
    case "costSummary":
    case "treeStored":
    case undefined:
      return { ...before, lastSequence };
  }
}

/**
 * Returns the ownership of a run whose log ends with this batch, if the batch parks it. Undefined: the batch alone does not
 * say. Claims before the park do not matter, because the next owner claims the run again.
 */
export function parkedOwnership(lastBatch: readonly RunEvent[]): Ownership | undefined {
  const last = lastBatch.at(-1);
  if (last?.event.case !== "runParked") return undefined;
  return applyToOwnership(ownershipParkedAt(last.sequence), last);
}

/** Returns the ownership of a run that is parked by the event at a sequence, after which nothing came. */
export function ownershipParkedAt(sequence: number): Ownership {
  return { ...noOwnership, isCreated: true, lastSequence: sequence, parkedAt: sequence };
}

/** Returns whether a parked run has to be woken at `nowMs`, in milliseconds since the epoch. */
export function isWakeDue(owned: Ownership, nowMs: number): boolean {
  return isParked(owned) && owned.wakeAtMs !== undefined && owned.wakeAtMs <= nowMs;
}

/** Returns whether the run is parked and nothing came after: it needs no dispatch until something does. */
export function isParked({ parkedAt, lastSequence }: Ownership): boolean {
  return parkedAt !== undefined && parkedAt === lastSequence;
}

/** The dispatch that a run must have. */
export interface RequiredDispatch {
  /** The id under which the writer that required the dispatch first publishes it. */
  readonly dedupeId: string;
  /** Sequence of the message that replaces the dispatch while it is in the queue; undefined: unknown. */
  readonly heldBy: number | undefined;
}

/**
 * Returns the dispatch without which no worker takes up the run. Undefined: the run has ended, or waits for an external
 * fact or for its turn in a thread.
 */
export function requiredDispatch(run: string, ownership: Ownership): RequiredDispatch | undefined {
  const { isCreated, threadId, endSequence, claim, parkedAt } = ownership;
  if (!isCreated || endSequence !== undefined) return undefined;
  if (parkedAt !== undefined) {
    return isParked(ownership) ? undefined : { dedupeId: `${run}:${parkedAt}`, heldBy: undefined };
  }
  if (claim === undefined) {
    return threadId === "" ? { dedupeId: `${run}:start`, heldBy: undefined } : undefined;
  }
  return { dedupeId: `${run}:lost:${claim.epoch}`, heldBy: Number(claim.dispatchSequence) };
}
