import { create } from "@bufbuild/protobuf";
import type { Dispatch } from "@reeve/contracts/run";
import { DispatchSchema } from "@reeve/contracts/run";
import type { Tail } from "@reeve/jetstream/log/port";
import { emptyTail } from "@reeve/jetstream/log/port";
import { publishUntilHeld } from "@reeve/jetstream/queue/publish-until-held";
import type { RunKey, RunLog, RunTailReader } from "@reeve/jetstream/log/run-log";
import type { Ownership } from "@reeve/run/head/ownership";
import {
  noOwnership,
  requiredDispatch,
  foldOwnership,
  parkedOwnership,
} from "@reeve/run/head/ownership";
import type { WorkQueue } from "@reeve/jetstream/queue/port";
import type { KnownHolders } from "./carrying-worker.ts";
import { hasCarryingWorker } from "./carrying-worker.ts";

export interface SweepPorts {
  readonly log: Pick<RunLog, "read">;
  readonly dispatch: Pick<WorkQueue<Dispatch>, "publish" | "holds">;
  /** Default: no worker is known to have runs from elsewhere. */
  readonly holders?: KnownHolders;
}

/** What one sweep of a run leaves for the next. */
export interface SweepRecord {
  readonly tail: Tail;
  readonly ownership: Ownership;
  /** The last dispatch that a sweep published or found in the queue, and its sequence there. It may have disappeared since. */
  readonly dispatched: { readonly dedupeId: string; readonly sequence: number } | undefined;
  /** Whether this sweep dispatched the run. */
  readonly isDispatched: boolean;
}

export const emptySweepRecord: SweepRecord = {
  tail: emptyTail,
  ownership: noOwnership,
  dispatched: undefined,
  isDispatched: false,
};

/**
 * Sweeps, for the first time, a run whose row says that it waits. If its last batch parks the run, it needs no dispatch, and
 * the rest of its log is not read. Undefined: the log has to be read.
 */
export async function sweepParked(
  { logEnds }: { readonly logEnds: RunTailReader },
  key: RunKey,
  signal: AbortSignal,
): Promise<SweepRecord | undefined> {
  const { events, tail } = await logEnds.last(key, signal);
  const ownership = parkedOwnership(events);
  return ownership && { ...emptySweepRecord, tail, ownership };
}

/**
 * Dispatches a run that can make progress, has no owner, and has no message in the queue from which a worker would take it.
 * A run with a slow owner is left alone, because the message of a live owner is in the queue.
 */
export async function sweepRun(
  ports: SweepPorts,
  key: RunKey,
  before: SweepRecord,
  signal: AbortSignal,
): Promise<SweepRecord> {
  const { events, tail } = await ports.log.read(key, before.tail, signal);
  const ownership = foldOwnership(before.ownership, events);
  const record: SweepRecord = {
    tail,
    ownership,
    dispatched: before.dispatched,
    isDispatched: false,
  };
  const required = requiredDispatch(key.run, ownership);
  if (required === undefined) return record;
  const isRepeated = before.dispatched?.dedupeId === required.dedupeId;
  const published = isRepeated ? before.dispatched?.sequence : undefined;
  const places = [required.heldBy, published];
  for (const place of places) {
    if (place !== undefined && (await ports.dispatch.holds(place, signal))) return record;
  }
  if (await hasCarryingWorker(ports.holders, ownership, signal)) return record;
  const message = create(DispatchSchema, {
    tenant: key.tenant,
    runId: key.run,
    afterSequence: ownership.lastSequence,
  });
  // An owner parks or ends the run before it acknowledges its message, so the log read before the look at the queue may be
  // outdated.
  const isNeeded = async () => (await ports.log.read(key, tail, signal)).events.length === 0;
  const { dedupeId } = required;
  const options = { dedupeId, gone: published, isNeeded };
  const publication = await publishUntilHeld(ports.dispatch, message, options, signal);
  if (publication.kind === "unneeded") return record;
  const { kind, sequence } = publication;
  return { ...record, dispatched: { dedupeId, sequence }, isDispatched: kind === "held" };
}
