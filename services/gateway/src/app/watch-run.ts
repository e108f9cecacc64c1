import { toBinary } from "@bufbuild/protobuf";
import type { RunEvent, RunStatus, WatchRunRequest } from "@reeve/contracts/run";
import { RunEventSchema } from "@reeve/contracts/run";
import { ErrorReason } from "@reeve/contracts/error";
import type { EventRange, Tail } from "@reeve/jetstream/log/port";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { RunHead } from "@reeve/run/head/run-head";
import { emptyHead, foldHead } from "@reeve/run/head/run-head";
import type { RunKey, RunLog } from "@reeve/jetstream/log/run-log";
import { Failure } from "@reeve/platform/failure";
import { withHeartbeats } from "@reeve/platform/async/with-heartbeats";
import { endsRun, eventSelection } from "./event-selection.ts";
import { runNotFound, runKeyOf } from "./read-run.ts";

/** What a client gets at a time. */
export interface WatchUpdate {
  readonly events: readonly RunEvent[];
  /** Nothing that was asked for is missing up to this sequence. */
  readonly throughSequence: number;
  /** How the run ended, when nothing follows any more. */
  readonly endStatus?: RunStatus;
}

export interface WatchPorts {
  readonly log: RunLog;
  /** A tick that comes again and again, for heartbeats. */
  sleep(delayMs: number, signal: AbortSignal): Promise<void>;
}

/** How long a stream is silent before it says that it lives. */
const heartbeatMs = 5_000;
/** What the events of one message may have together; clients of gRPC accept 4 MiB unless told otherwise. */
const maxBytes = 1024 * 1024;
/** How many events that were read are kept for a client to take them. */
const maxHeld = 200;

/**
 * The events of a run after a sequence, each once and in order, until its terminal status; then nothing. An empty message
 * now and then says that nothing is missing.
 */
export async function* watchRun(
  { log, sleep }: WatchPorts,
  tenant: string,
  { runId, afterSequence, selection }: WatchRunRequest,
  signal: AbortSignal,
): AsyncIterable<WatchUpdate> {
  const key = runKeyOf(tenant, runId);
  const { lastSequence, endSequence, status, ...read } = await readStart(
    log,
    key,
    afterSequence,
    signal,
  );
  if (afterSequence > lastSequence) throw beyondEnd(runId, afterSequence, lastSequence);
  if (endSequence !== undefined && afterSequence >= endSequence) {
    yield { events: [], throughSequence: afterSequence, endStatus: status };
    return;
  }
  const isWanted = eventSelection(selection);
  let throughSequence = afterSequence;
  // Silence is what the client hears, however much goes on that it did not ask for.
  async function* wanted(until: AbortSignal): AsyncIterable<WatchUpdate> {
    for await (const { events, tail } of following(read, log, key, until)) {
      const end = events.find(endsRun);
      const shown = end === undefined ? events : events.slice(0, events.indexOf(end) + 1);
      const chosen = shown.filter(isWanted);
      if (end?.event.case === "status") {
        yield {
          events: chosen,
          throughSequence: end.sequence,
          endStatus: end.event.value.status,
        };
      } else if (chosen.length === 0) throughSequence = tail.sequence;
      else yield { events: chosen, throughSequence: tail.sequence };
    }
  }
  for await (const next of withHeartbeats(wanted, (until) => sleep(heartbeatMs, until), signal)) {
    if (next === "heartbeat") {
      yield { events: [], throughSequence };
      continue;
    }
    yield* portions(next);
    if (next.endStatus !== undefined) return;
    ({ throughSequence } = next);
  }
}

/** Where a watcher begins: after a tail, with what was missed up to there, or after a sequence from the store. */
interface WatchStart {
  missed: readonly RunEvent[];
  readonly after: Tail | number;
}

/** The run as it stands, and where somebody begins who has seen it up to `sequence`. */
async function readStart(
  log: RunLog,
  key: RunKey,
  sequence: number,
  signal: AbortSignal,
): Promise<WatchStart & Pick<RunHead, "lastSequence" | "endSequence" | "status">> {
  const { events, tail } = await log.read(key, emptyTail, signal);
  if (events.length === 0) throw runNotFound(key.run);
  const { lastSequence, endSequence, status } = foldHead(emptyHead, events);
  const missed = events.slice(sequence);
  // Much is read again, in parts, instead of being held for a client that may be slow.
  const beginning =
    missed.length > maxHeld ? { missed: [], after: sequence } : { missed, after: tail };
  return { lastSequence, endSequence, status, ...beginning };
}

async function* following(
  read: WatchStart,
  log: RunLog,
  key: RunKey,
  signal: AbortSignal,
): AsyncIterable<EventRange<RunEvent>> {
  const { after } = read;
  if (typeof after === "object" && read.missed.length > 0) {
    yield { events: read.missed, tail: after };
    read.missed = [];
  }
  yield* log.follow(key, after, signal);
}

/**
 * The same in messages that every client accepts: one over the limit of a client would end its stream, and again at each
 * attempt to watch on.
 */
function* portions({ events, ...rest }: WatchUpdate): Iterable<WatchUpdate> {
  let portion: RunEvent[] = [];
  let bytes = 0;
  for (const event of events) {
    const size = events.length === 1 ? 0 : toBinary(RunEventSchema, event).length;
    if (portion.length > 0 && bytes + size > maxBytes) {
      yield { events: portion, throughSequence: event.sequence - 1 };
      portion = [];
      bytes = 0;
    }
    portion.push(event);
    bytes += size;
  }
  yield { events: portion, ...rest };
}

function beyondEnd(runId: string, afterSequence: number, lastSequence: number): Failure {
  return new Failure(
    "out_of_range",
    ErrorReason.SEQUENCE_BEYOND_END,
    `run ${runId} has ${lastSequence} events; there is none after ${afterSequence}`,
    { metadata: { run_id: runId, last_sequence: String(lastSequence) } },
  );
}
