import type { RunEvent } from "@reeve/contracts/run";
import { isTerminal } from "./run-head.ts";

/** Who has a run, or where it rests: the little of its log that tells whether it is forgotten. */
export interface Ownership {
  /** Undefined: there is no such run. */
  readonly threadId: string | undefined;
  readonly lastSequence: number;
  readonly claim: OwnershipClaim | undefined;
  /** Sequence at which the run was parked; undefined while it has an owner, or had none yet. */
  readonly parkedAt: number | undefined;
  readonly hasEnded: boolean;
}

interface OwnershipClaim {
  readonly epoch: number;
  /** Place of the dispatch message by which the owner has the run. */
  readonly dispatchSequence: number;
}

export const noOwnership: Ownership = {
  threadId: undefined,
  lastSequence: 0,
  claim: undefined,
  parkedAt: undefined,
  hasEnded: false,
};

/** The rest after more events; those of a newer version that this one does not know leave it as it is. */
export function foldOwnership(before: Ownership, events: readonly RunEvent[]): Ownership {
  return events.reduce((rest, { event, sequence }) => {
    const next = { ...rest, lastSequence: sequence };
    switch (event.case) {
      case "runCreated":
        return { ...next, threadId: event.value.threadId };
      case "runClaimed": {
        const { epoch, dispatchSequence } = event.value;
        const claim = { epoch, dispatchSequence: Number(dispatchSequence) };
        return { ...next, claim, parkedAt: undefined };
      }
      case "runParked":
        return { ...next, parkedAt: sequence };
      case "status":
        return { ...next, hasEnded: rest.hasEnded || isTerminal(event.value.status) };
      default:
        return next;
    }
  }, before);
}

/**
 * The rest of a run whose last batch this is, if it is parked there; undefined: the batch alone does not tell. What it was
 * before matters to nobody: whoever takes it up claims it.
 */
export function parkedOwnership(lastBatch: readonly RunEvent[]): Ownership | undefined {
  const last = lastBatch.at(-1);
  if (last?.event.case !== "runParked") return undefined;
  const { sequence } = last;
  return { ...noOwnership, threadId: "", lastSequence: sequence, parkedAt: sequence };
}

/** Whether the run is parked, and nothing came after: it is owed nothing until something does. */
export function isParked({ parkedAt, lastSequence }: Ownership): boolean {
  return parkedAt !== undefined && parkedAt === lastSequence;
}

/** The dispatch that a run ought to have. */
export interface RequiredDispatch {
  /** Under this id whoever owed it first published it. */
  readonly dedupeId: string;
  /** Place of the message that makes another needless while it is in the queue; undefined: it is not known. */
  readonly heldBy: number | undefined;
}

/**
 * The dispatch without which nobody takes the run up; undefined: it ended, waits for somebody outside, or for its turn in
 * a thread.
 */
export function requiredDispatch(run: string, rest: Ownership): RequiredDispatch | undefined {
  const { threadId, hasEnded, claim, parkedAt } = rest;
  if (threadId === undefined || hasEnded) return undefined;
  if (parkedAt !== undefined) {
    return isParked(rest) ? undefined : { dedupeId: `${run}:${parkedAt}`, heldBy: undefined };
  }
  if (claim === undefined) {
    return threadId === "" ? { dedupeId: `${run}:start`, heldBy: undefined } : undefined;
  }
  return { dedupeId: `${run}:lost:${claim.epoch}`, heldBy: claim.dispatchSequence };
}
