import { toBinary } from "@bufbuild/protobuf";
import type { RunEvent, RunStatus, WatchRunRequest } from "@reeve/contracts/run";
import { RunEventSchema } from "@reeve/contracts/run";
import { ErrorReason } from "@reeve/contracts/error";
import type { EventRange, LogPart, Tail } from "@reeve/jetstream/log/port";
import { emptyTail, maxFollowedBytes } from "@reeve/jetstream/log/port";
import type { RunKey, RunLog, RunPartReader, RunTailReader } from "@reeve/jetstream/log/run-log";
import { KeyedSemaphore } from "@reeve/platform/async/coordination/keyed-semaphore";
import { Failure } from "@reeve/platform/failure";
import { endsRun, isRecord } from "../event-selection.ts";
import { runNotFound } from "../read-run.ts";
import { assertSameHistory, resumeTokenAt, sequenceOfToken } from "./resume-token.ts";

/** How much of a log is read at a time, until the place where a client resumes. */
const walkedBytes = 512 * 1024;

export interface StartPorts {
  /** The log as this process has it in memory, if it does. */
  readonly log: Pick<RunLog, "readHeld">;
  readonly logEnds: RunTailReader;
  readonly logParts: RunPartReader;
  /** Limits how many clients that resume read logs at the same time, by tenant. */
  readonly walks: Pick<KeyedSemaphore, "acquire">;
}

/** Returns the limit of all watches of a process. After a restart of a gateway, all its clients resume at another one at once. */
export function limitWalks(): KeyedSemaphore {
  return new KeyedSemaphore({ permits: 4, permitsPerKey: 2, maxWaitingPerKey: 1_000 });
}

/** The start of a watch: the past events that the client missed, and the tail or sequence after which to follow the log. */
export interface WatchStart {
  /** Empty if there are many: those are read again, in parts, instead of being held for a client that may be slow. */
  missed: readonly RunEvent[];
  missedBatches: readonly Tail[];
  /** How many bytes the missed events have in the store, or more. */
  readonly missedBytes: number;
  readonly after: Tail | number;
  /** Whether `after` was the end of the log when it was read. */
  readonly isCurrent: boolean;
  readonly resumeToken: string;
  /** The end of the log, as far as it was read: at least up to where the client resumes. */
  readonly lastSequence: number;
  /** The terminal status. Undefined: nothing that was read ends the run. */
  readonly end: { readonly sequence: number; readonly status: RunStatus } | undefined;
}

/**
 * Reads where to start for a client that has seen the events up to `after_sequence`. Most have seen all but the last batch, which costs
 * one read. Otherwise reads the log up to there in parts, and keeps little of them. Throws a Failure of kind `not_found` if there is no
 * run, and `data_loss` when the client has seen events that are not stored.
 */
export async function startWatch(
  ports: StartPorts,
  key: RunKey,
  request: WatchRunRequest,
  signal: AbortSignal,
): Promise<WatchStart> {
  const { afterSequence, resumeToken } = request;
  if (afterSequence === 0 && resumeToken === "") {
    const held = await ports.log.readHeld?.(key, signal);
    const part =
      held === undefined
        ? await ports.logParts.readPart(key, emptyTail, maxFollowedBytes, signal)
        : { ...held, isComplete: true };
    if (part.events.length === 0) throw runNotFound(key.run);
    return startOf(new Walk(request).with(part), request);
  }
  const last = await ports.logEnds.last(key, signal);
  if (last.events.length === 0) throw runNotFound(key.run);
  const walk = isEnough(last, request)
    ? new Walk(request, afterSequence).with({ ...last, isComplete: true })
    : await walked(ports, key, request, signal);
  const lastSequence = Math.max(last.tail.sequence, walk.tail.sequence);
  assertSameHistory(key.run, request, { batchTails: walk.tails, lastSequence });
  return startOf(walk, request);
}

/**
 * Whether the last batch alone says where to start: the client has all events before it, and if the run had ended before, it
 * would contain nothing but records.
 */
function isEnough(
  { events, tail }: EventRange<RunEvent>,
  { afterSequence }: WatchRunRequest,
): boolean {
  return afterSequence > tail.sequence - events.length && !events.every((event) => isRecord(event));
}

/** Reads a log up to all that the request names, or to its end. */
async function walked(
  { logEnds, logParts, walks }: StartPorts,
  key: RunKey,
  request: WatchRunRequest,
  signal: AbortSignal,
): Promise<Walk> {
  using permit = await walks.acquire(key.tenant, signal);
  if (permit === undefined) throw tooManyResume();
  const target = Math.max(request.afterSequence, sequenceOfToken(request.resumeToken));
  const walk = new Walk(request);
  let part: LogPart<RunEvent>;
  do {
    part = await logParts.readPart(key, walk.tail, walkedBytes, signal);
    if (part.isGone === true) throw await whyGone(logEnds, key, signal);
    walk.with(part);
  } while (!part.isComplete && walk.tail.sequence < target);
  if (walk.tail.sequence === 0) throw runNotFound(key.run);
  return walk;
}

/** A server that was cut off may say that a log which was read is gone. Only the end of a log is confirmed. */
async function whyGone(logEnds: RunTailReader, key: RunKey, signal: AbortSignal): Promise<Failure> {
  const { events } = await logEnds.last(key, signal);
  if (events.length === 0) return runNotFound(key.run);
  return new Failure(
    "unavailable",
    ErrorReason.UNAVAILABLE,
    `the log of run ${key.run} was not found for a moment; try again`,
  );
}

/** What a watch keeps of the parts of a log that were read for it. */
class Walk {
  /** The tails of the batches that contain the sequences which the request names, and of those that the client missed. */
  readonly tails: Tail[] = [];
  tail: Tail = emptyTail;
  /** After what to follow the log for the events that the client missed. */
  before: Tail | number;
  end: WatchStart["end"];
  /** Undefined: they are too large to be held. */
  missed: readonly RunEvent[] | undefined = [];
  readonly #named: readonly number[];
  readonly #afterSequence: number;
  missedBytes = 0;
  /** Whether the last part reached the end of the log. */
  isComplete = false;

  constructor({ afterSequence, resumeToken }: WatchRunRequest, before: Tail | number = emptyTail) {
    this.#afterSequence = afterSequence;
    this.#named = [afterSequence, sequenceOfToken(resumeToken)];
    this.before = before;
  }

  with({ events, tail, batchTails, isComplete, bytes }: LogPart<RunEvent>): this {
    this.isComplete = isComplete;
    const end = events.find(endsRun);
    if (end?.event.case === "status") {
      this.end ??= { sequence: end.sequence, status: end.event.value.status };
    }
    this.#keepTails(batchTails);
    const missed = events.filter(({ sequence }) => sequence > this.#afterSequence);
    if (missed.length > 0) this.missedBytes += bytes ?? bytesOf(missed);
    const isHeld = this.missed !== undefined && this.missedBytes <= maxFollowedBytes;
    this.missed = isHeld ? [...(this.missed ?? []), ...missed] : undefined;
    this.tail = tail;
    return this;
  }

  #keepTails(batchTails: readonly Tail[]): void {
    let previous = this.tail.sequence;
    for (const batch of batchTails) {
      const isNamed = this.#named.some((named) => previous < named && named <= batch.sequence);
      const isMissed = batch.sequence > this.#afterSequence && this.missed !== undefined;
      if (isNamed || isMissed) this.tails.push(batch);
      if (typeof this.before === "object" && batch.sequence <= this.#afterSequence) {
        this.before = batch;
      }
      previous = batch.sequence;
    }
  }
}

function startOf(walk: Walk, { afterSequence }: WatchRunRequest): WatchStart {
  const { tails, tail, before, missed, end, isComplete } = walk;
  const known = {
    end,
    lastSequence: tail.sequence,
    resumeToken: resumeTokenAt(afterSequence, tails),
  };
  if (missed === undefined) {
    const none = { missed: [], missedBatches: [], missedBytes: 0 };
    return { ...known, ...none, after: before, isCurrent: false };
  }
  const missedBatches = tails.filter(({ sequence }) => sequence > afterSequence);
  const { missedBytes } = walk;
  return { ...known, missed, missedBatches, missedBytes, after: tail, isCurrent: isComplete };
}

function bytesOf(events: readonly RunEvent[]): number {
  return events.reduce((sum, event) => sum + toBinary(RunEventSchema, event).length, 0);
}

function tooManyResume(): Failure {
  return new Failure(
    "unavailable",
    ErrorReason.UNAVAILABLE,
    "too many streams of the tenant resume at once; try again in a few seconds",
  );
}
