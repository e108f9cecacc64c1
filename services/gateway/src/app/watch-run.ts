import { toBinary } from "@bufbuild/protobuf";
import type { RunEvent, RunStatus, WatchRunRequest } from "@reeve/contracts/run";
import { RunEventSchema } from "@reeve/contracts/run";
import { ErrorReason } from "@reeve/contracts/error";
import type { EventRange, Tail } from "@reeve/jetstream/log/port";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { RunHead } from "@reeve/run/head/run-head";
import { emptyHead, foldHead } from "@reeve/run/head/run-head";
import type { RunKey, RunLog } from "@reeve/jetstream/log/run-log";
import type { Clock } from "@reeve/platform/async/clock";
import { Failure } from "@reeve/platform/failure";
import { withHeartbeats } from "@reeve/platform/async/with-heartbeats";
import { endsRun, eventSelection } from "./event-selection.ts";
import { runNotFound, runKeyOf } from "./read-run.ts";

/** A message of a watch. */
export interface WatchUpdate {
  readonly events: readonly RunEvent[];
  /** The client has all selected events up to this sequence. */
  readonly throughSequence: number;
  /** The final status of the run, in the last message only. */
  readonly endStatus?: RunStatus;
}

export interface WatchPorts {
  readonly log: RunLog;
  /** For the interval between heartbeats. */
  sleep: Clock["sleep"];
}

/** The time without a message after which a stream sends a heartbeat. */
const heartbeatMs = 5_000;
/** The maximum total size of a message's events. gRPC clients accept 4 MiB by default. */
const maxBytes = 1024 * 1024;
/** The maximum number of past events that are kept in memory for a client. */
const maxHeldEvents = 200;

/**
 * Yields the selected events of a run after a sequence, each once and in order, up to the terminal status. An empty message is
 * a heartbeat: it says that nothing is missing up to its `throughSequence`. Throws a Failure of kind `not_found` if the run
 * does not exist, and `out_of_range` for a sequence beyond the end of the log.
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
  const isSelected = eventSelection(selection);
  let throughSequence = afterSequence;
  // Heartbeats depend on what the client receives, so events that it did not select must not count as messages.
  async function* selected(until: AbortSignal): AsyncIterable<WatchUpdate> {
    for await (const { events, tail } of following(read, log, key, until)) {
      const end = events.find(endsRun);
      const visible = end === undefined ? events : events.slice(0, events.indexOf(end) + 1);
      const chosen = visible.filter(isSelected);
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
  for await (const next of withHeartbeats(selected, (until) => sleep(heartbeatMs, until), signal)) {
    if (next === "heartbeat") {
      yield { events: [], throughSequence };
      continue;
    }
    yield* splitBySize(next);
    if (next.endStatus !== undefined) return;
    ({ throughSequence } = next);
  }
}

/** The start of a watch: the past events that the client missed, and the tail or sequence after which to follow the log. */
interface WatchStart {
  missed: readonly RunEvent[];
  readonly after: Tail | number;
}

/** Reads the current state of the run, and where to start for a client that has seen its events up to `sequence`. */
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
  // Many events are read again, in parts, instead of being held in memory for a client that may be slow.
  const start =
    missed.length > maxHeldEvents ? { missed: [], after: sequence } : { missed, after: tail };
  return { lastSequence, endSequence, status, ...start };
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
 * Splits an update into messages that every client accepts. A message over a client's limit would end its stream, and end it
 * again each time the client resumes.
 */
function* splitBySize({ events, ...rest }: WatchUpdate): Iterable<WatchUpdate> {
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
    `run ${runId} has only ${lastSequence} events; start after one of them, not after ${afterSequence}`,
    { metadata: { run_id: runId, last_sequence: String(lastSequence) } },
  );
}
