import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import { ErrorReason } from "@reeve/contracts/error";
import type { Dispatch, RunEvent } from "@reeve/contracts/run";
import { DispatchSchema, RunEventSchema, RunStatusSchema } from "@reeve/contracts/run";
import { Failure } from "@reeve/platform/failure";
import type { EventRange } from "@reeve/jetstream/log/port";
import { inRunTrace } from "./in-run-trace.ts";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { RunHead } from "../head/run-head.ts";
import { emptyHead, foldHead } from "../head/run-head.ts";
import { isTerminal } from "../head/run-status.ts";
import type { RunKey, RunLog } from "@reeve/jetstream/log/run-log";
import type { WorkQueue } from "@reeve/jetstream/queue/port";

/** What somebody who does not own the run wants to say in its log. */
export type ExternalFact = NonNullable<MessageInitShape<typeof RunEventSchema>["event"]>;

export interface AppendExternalPorts {
  readonly log: RunLog;
  readonly dispatch: Pick<WorkQueue<Dispatch>, "publish">;
}

const maxAttempts = 1_000;

/**
 * Appends facts from outside to the log of a run. `decide` sees the run as it stands and says what to append: nothing when
 * it stands already; it throws a Failure to refuse. It is asked again whenever somebody else wrote first. A run that rests
 * is dispatched, so that some worker takes up the facts; a repetition makes up for a dispatch that was lost. Returns the
 * head with the facts in it.
 */
export async function appendExternal(
  { log, dispatch }: AppendExternalPorts,
  key: RunKey,
  decide: (head: RunHead) => readonly ExternalFact[],
  signal: AbortSignal,
): Promise<RunHead> {
  let head = emptyHead;
  let attempts = 0;
  for await (const stretch of standings(log, key, signal)) {
    head = foldHead(head, stretch.events);
    const facts = decide(head);
    if (facts.length === 0) {
      await wake(dispatch, key, head, signal);
      return head;
    }
    if (isTerminal(head.status)) throw runHasEnded(key, head);
    const events = eventsOf(key, head, facts);
    const before = head;
    const told = await inRunTrace(before, events, async () => {
      const outcome = await log.append(key, stretch.tail, events, signal);
      if (outcome.kind !== "appended") return undefined;
      const after = foldHead(before, events);
      await wake(dispatch, key, after, signal);
      return after;
    });
    if (told !== undefined) return told;
    if (++attempts === maxAttempts) break;
  }
  throw new Failure(
    "unavailable",
    ErrorReason.UNAVAILABLE,
    `run ${key.run} is written to without a pause; try again`,
  );
}

/**
 * The run as it stands, and again each time that somebody writes. Following gives each commit at the moment at which its
 * writer learns of it too, so that the next append is a fair race; reading again would lose it to a busy owner for ever.
 */
async function* standings(
  log: RunLog,
  key: RunKey,
  signal: AbortSignal,
): AsyncIterable<EventRange<RunEvent>> {
  const now = await log.read(key, emptyTail, signal);
  yield now;
  yield* log.follow(key, now.tail.sequence, signal);
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

/** Dispatches a run that rests and has facts that no worker has seen. */
async function wake(
  dispatch: AppendExternalPorts["dispatch"],
  { tenant, run }: RunKey,
  { parkedAt, lastSequence }: RunHead,
  signal: AbortSignal,
): Promise<void> {
  if (parkedAt === undefined || parkedAt === lastSequence) return;
  const message = create(DispatchSchema, { tenant, runId: run });
  await dispatch.publish(message, { dedupeId: `${run}:${parkedAt}` }, signal);
}

/** The refusal of a fact that comes after the end. */
export function runHasEnded({ run }: RunKey, { status }: RunHead): Failure {
  const name = RunStatusSchema.value[status]?.localName.toLowerCase() ?? "ended";
  return new Failure("precondition", ErrorReason.RUN_ENDED, `run ${run} has ended: ${name}`);
}
