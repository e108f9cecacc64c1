import { setTimeout as wait } from "node:timers/promises";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import { ErrorReason } from "@reeve/contracts/error";
import type { Dispatch } from "@reeve/contracts/run";
import { DispatchSchema, RunEventSchema, RunStatusSchema } from "@reeve/contracts/run";
import { Failure } from "@reeve/platform/failure";
import { emptyTail } from "./log.ts";
import type { RunHead } from "./run-head.ts";
import { emptyHead, foldHead, isTerminal } from "./run-head.ts";
import type { RunKey, RunLog } from "./run-log.ts";
import type { WorkQueue } from "./work-queue.ts";

/** What somebody who does not own the run wants to say in its log. */
export type ForeignFact = NonNullable<MessageInitShape<typeof RunEventSchema>["event"]>;

export interface ForeignPorts {
  readonly log: RunLog;
  readonly dispatch: Pick<WorkQueue<Dispatch>, "publish">;
}

const mostAttempts = 100;

/**
 * Appends facts from outside to the log of a run. `decide` sees the run as it stands and says what to append: nothing when
 * it stands already; it throws a Failure to refuse. It is asked again whenever somebody else wrote first. A run that rests
 * is dispatched, so that some worker takes up the facts. Returns the head with the facts in it.
 */
export async function commitForeign(
  { log, dispatch }: ForeignPorts,
  key: RunKey,
  decide: (head: RunHead) => readonly ForeignFact[],
  signal: AbortSignal,
): Promise<RunHead> {
  let head = emptyHead;
  let tail = emptyTail;
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    const missed = await log.read(key, tail, signal);
    head = foldHead(head, missed.events);
    tail = missed.tail;
    const facts = decide(head);
    if (facts.length === 0) return head;
    if (isTerminal(head.status)) throw ended(key, head);
    const time = timestampNow();
    const events = facts.map((event, index) =>
      create(RunEventSchema, { runId: key.run, sequence: tail.sequence + 1 + index, time, event }),
    );
    const outcome = await log.append(key, tail, events, signal);
    if (outcome.kind === "appended") {
      const { parkedAt } = head;
      if (parkedAt !== undefined) await wake(dispatch, key, parkedAt, signal);
      return foldHead(head, events);
    }
    // A busy owner leaves the way free after it lost; a little disorder keeps several of us apart.
    await wait(Math.random() * Math.min(attempt, 20), undefined, { signal });
  }
  throw new Failure(
    "unavailable",
    ErrorReason.UNAVAILABLE,
    `run ${key.run} is written to without a pause; try again`,
  );
}

function wake(
  dispatch: ForeignPorts["dispatch"],
  { tenant, run }: RunKey,
  parkedAt: number,
  signal: AbortSignal,
): Promise<void> {
  const message = create(DispatchSchema, { tenant, runId: run });
  return dispatch.publish(message, { dedupeId: `${run}:${parkedAt}` }, signal);
}

/** The refusal of a fact that comes after the end. */
export function ended({ run }: RunKey, { status }: RunHead): Failure {
  const name = RunStatusSchema.value[status]?.localName.toLowerCase() ?? "ended";
  return new Failure("precondition", ErrorReason.RUN_ENDED, `run ${run} has ended: ${name}`);
}
