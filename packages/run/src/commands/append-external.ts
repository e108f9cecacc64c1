/**
 * How a writer that does not own a run appends to its log: a client, the approvals service, a timer. Its invariants:
 *
 * E1. A decision sees every event before its facts. The append names the tail up to which the head is folded; if another
 *     writer was first, the decision is made again on the new head.
 *     Test: append-external.test.ts, "is decided again when another writer was first"
 * E2. The facts of one decision are one batch.
 *     Test: append-external.test.ts, "is one batch with the other facts of its decision"
 * E3. No external fact follows the terminal status.
 *     Test: append-external.test.ts, "is refused after the end"
 * E4. A run that is parked before the append is dispatched after it, once per park. A run with an owner is not dispatched:
 *     the owner follows the log.
 *     Test: append-external.test.ts, "leaves an owner alone, and wakes a parked run once for each park"
 * E5. Repeating a command publishes the dispatch that a crash lost, although the facts are already in the log.
 *     Test: append-external.test.ts, "wakes the run when it is repeated after its dispatch was lost"
 * E6. A parked run without new facts is not dispatched.
 *     Test: append-external.test.ts, "does not wake a parked run when the decision is to append nothing"
 * E7. A log with an event of a newer version gets only facts that end the run. Whether any other fact is valid may depend
 *     on that event.
 *     Test: append-external.test.ts, "is refused in a log with an event of a newer version, unless it ends the run"
 * E8. A busy owner does not keep external facts out: after a lost append the writer follows the log, so it learns of a
 *     batch at the same moment as its writer.
 *     Test: ../../../jetstream/test/support/external-append-contract.ts, "lets external facts in while the owner writes at full speed"
 */

import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import { ErrorReason } from "@reeve/contracts/error";
import type { Dispatch, RunEvent } from "@reeve/contracts/run";
import { DispatchSchema, RunEventSchema, RunStatus } from "@reeve/contracts/run";
import type { EventRange, Tail } from "@reeve/jetstream/log/port";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { RunKey, RunLog } from "@reeve/jetstream/log/run-log";
import type { WorkQueue } from "@reeve/jetstream/queue/port";
import { foldInSlices } from "@reeve/platform/async/fold-in-slices";
import { Failure } from "@reeve/platform/failure";
import type { RunHead } from "../head/run-head.ts";
import { emptyHead, foldHead } from "../head/run-head.ts";
import { newerVersion } from "../head/newer-version.ts";
import { isTerminal, statusName } from "../head/run-status.ts";
import { inRunTrace } from "./in-run-trace.ts";

/** A fact that a writer appends to the log of a run that it does not own. */
export type ExternalFact = NonNullable<MessageInitShape<typeof RunEventSchema>["event"]>;

export interface AppendExternalPorts {
  readonly log: RunLog;
  readonly dispatch: Pick<WorkQueue<Dispatch>, "publish" | "prepare">;
  /** Called when facts were appended: the command repeats no earlier one. */
  readonly onAppended?: () => void;
  /** What the writer has read of the log, which it need not read again. Default: nothing. */
  readonly seen?: SeenRun;
}

/** The log of a run as a reader knows it. */
export interface SeenRun {
  /** The end of what was read. */
  readonly tail: Tail;
  /** The head after all events up to the tail. */
  readonly head: RunHead;
}

/** How many times other writers may append first before the command fails. */
const maxAttempts = 1_000;

/**
 * Appends external facts to the log of a run. `decide` gets the current head and returns the facts to append; none if the
 * log has them already. It throws a Failure to refuse, and is called again whenever another writer was first. A parked run
 * is dispatched so that a worker takes up the facts. May be repeated. Returns the head with the facts in it. Throws a
 * Failure with the reason RUN_ENDED when there are facts to append and the run has ended.
 */
export async function appendExternal(
  { log, dispatch, onAppended, seen }: AppendExternalPorts,
  key: RunKey,
  decide: (head: RunHead) => readonly ExternalFact[],
  signal: AbortSignal,
): Promise<RunHead> {
  let head = seen?.head ?? emptyHead;
  let attempts = 0;
  for await (const range of currentAndNext(log, key, seen, signal)) {
    head = await foldInSlices(head, range.events, foldHead, signal);
    const facts = decide(head);
    if (facts.length === 0) {
      await wake(dispatch, key, head, signal);
      return head;
    }
    if (isTerminal(head.status)) throw runHasEnded(key, head);
    if (!endsRun(facts)) assertKnown(key, head);
    const events = eventsOf(key, head, facts);
    const appended = foldHead(head, events);
    if (isToWake(appended)) dispatch.prepare?.(dispatchOf(key, appended));
    const after = await inRunTrace(head, events, async () => {
      const outcome = await log.append(key, range.tail, events, signal);
      if (outcome.kind !== "appended") return undefined;
      onAppended?.();
      await wake(dispatch, key, appended, signal);
      return appended;
    });
    if (after !== undefined) return after;
    if (++attempts === maxAttempts) break;
  }
  throw new Failure(
    "unavailable",
    ErrorReason.UNAVAILABLE,
    `run ${key.run} was not changed: other writers were first in all ${maxAttempts} attempts; try again`,
  );
}

/**
 * Yields the log as it is now, or nothing of one that the writer has seen, then each new batch. Reading again after a lost append would always lose to a busy owner:
 * following yields a batch when its writer learns of it too, so the next append is a fair race.
 */
async function* currentAndNext(
  log: RunLog,
  key: RunKey,
  seen: SeenRun | undefined,
  signal: AbortSignal,
): AsyncIterable<EventRange<RunEvent>> {
  const current =
    seen === undefined
      ? await log.read(key, emptyTail, signal)
      : { events: [], tail: seen.tail, batchTails: [] };
  yield current;
  yield* log.follow(key, current.tail, signal);
}

function eventsOf(
  { run }: RunKey,
  { lastSequence }: RunHead,
  facts: readonly ExternalFact[],
): readonly RunEvent[] {
  const time = timestampNow();
  return facts.map((event, index) =>
    create(RunEventSchema, { runId: run, sequence: lastSequence + 1 + index, time, event }),
  );
}

function endsRun(facts: readonly ExternalFact[]): boolean {
  return facts.some(
    (fact) => fact.case === "status" && isTerminal(fact.value.status ?? RunStatus.UNSPECIFIED),
  );
}

function assertKnown({ run }: RunKey, { unknownEventSequence }: RunHead): void {
  if (unknownEventSequence > 0) throw newerVersion(`run ${run}`, unknownEventSequence);
}

/** Whether a run is parked and has facts since its park. */
function isToWake({ parkedAt, lastSequence }: RunHead): boolean {
  return parkedAt !== undefined && parkedAt !== lastSequence;
}

function dispatchOf({ tenant, run }: RunKey, { lastSequence }: RunHead): Dispatch {
  return create(DispatchSchema, { tenant, runId: run, afterSequence: lastSequence });
}

/** Dispatches a parked run that has facts since its park. */
async function wake(
  dispatch: AppendExternalPorts["dispatch"],
  key: RunKey,
  head: RunHead,
  signal: AbortSignal,
): Promise<void> {
  if (!isToWake(head)) return;
  const dedupeId = `${key.run}:${head.parkedAt ?? 0}`;
  await dispatch.publish(dispatchOf(key, head), { dedupeId }, signal);
}

/** Returns the refusal of a fact that would follow the terminal status. */
export function runHasEnded({ run }: RunKey, { status }: RunHead): Failure {
  const message = `run ${run} has ended: ${statusName(status) || "ended"}`;
  return new Failure("precondition", ErrorReason.RUN_ENDED, message);
}
