import { create } from "@bufbuild/protobuf";
import type { Dispatch } from "@reeve/contracts/run";
import { DispatchSchema } from "@reeve/contracts/run";
import type { Tail } from "@reeve/jetstream/log/port";
import { emptyTail } from "@reeve/jetstream/log/port";
import { publishHeld } from "@reeve/jetstream/queue/publish-held";
import type { RunKey, RunLog, RunLogEnds } from "@reeve/jetstream/log/run-log";
import type { RunRest } from "@reeve/run/head/run-rest";
import { emptyRest, owedDispatch, restAfter, restOfParked } from "@reeve/run/head/run-rest";
import type { WorkQueue } from "@reeve/jetstream/queue/port";

export interface SweepPorts {
  readonly log: Pick<RunLog, "read">;
  readonly dispatch: Pick<WorkQueue<Dispatch>, "publish" | "holds">;
}

/** What one look at a run leaves for the next. */
export interface Looked {
  readonly tail: Tail;
  readonly rest: RunRest;
  /** The dispatch that a look before has seen to, and where it lies. */
  readonly seenTo: { readonly dedupeId: string; readonly sequence: number } | undefined;
  /** Whether this look found the run forgotten, and dispatched it. */
  readonly isDispatched: boolean;
}

export const unseen: Looked = {
  tail: emptyTail,
  rest: emptyRest,
  seenTo: undefined,
  isDispatched: false,
};

/**
 * Looks at a run for the first time of which it is said that it waits: parked and owed nothing, its last batch tells all, and
 * no more is read, however much came before. Undefined: the rest of its log has to be read.
 */
export async function seeParked(
  { logEnds }: { readonly logEnds: RunLogEnds },
  key: RunKey,
  signal: AbortSignal,
): Promise<Looked | undefined> {
  const { events, tail } = await logEnds.last(key, signal);
  const rest = restOfParked(events);
  return rest && { ...unseen, tail, rest };
}

/**
 * Dispatches the run if it could move, nobody has it, and no message is in the queue by which somebody would take it. A
 * run whose owner is slow is left alone: the message of a living owner is in the queue.
 */
export async function sweepRun(
  ports: SweepPorts,
  key: RunKey,
  before: Looked,
  signal: AbortSignal,
): Promise<Looked> {
  const { events, tail } = await ports.log.read(key, before.tail, signal);
  const rest = restAfter(before.rest, events);
  const looked = { tail, rest, seenTo: before.seenTo, isDispatched: false };
  const owed = owedDispatch(key.run, rest);
  if (owed === undefined) return looked;
  const isSeenTo = before.seenTo?.dedupeId === owed.dedupeId;
  const places = [owed.heldBy, isSeenTo ? before.seenTo?.sequence : undefined];
  for (const place of places) {
    if (place !== undefined && (await ports.dispatch.holds(place, signal))) return looked;
  }
  const message = create(DispatchSchema, { tenant: key.tenant, runId: key.run });
  // An owner parks the run or ends it before its message goes: what was read before the look at the queue may be old.
  const isOwed = async () => (await ports.log.read(key, tail, signal)).events.length === 0;
  const { dedupeId } = owed;
  const sequence = await publishHeld(ports.dispatch, message, { dedupeId, isOwed }, signal);
  if (sequence === undefined) return looked;
  return { ...looked, seenTo: { dedupeId, sequence }, isDispatched: true };
}
